-- Messages that have reached a running turn, by the id of their request.
create index steered_messages on turn_events ((event ->> 'id')) where event ->> 'type' = 'response.steered';
