# Login shells that no PAM has given these: those of tmux, and `bash -l` in a bare environment.
set -a
. /etc/environment
set +a
# What stands for the agent's secrets.
[ ! -r "$BASH_ENV" ] || . "$BASH_ENV"
