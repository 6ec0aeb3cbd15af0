-- Money that nobody may forget: payments that are over are asked about, refunds are sent for as long as they are owed.

-- A gateway may have taken the money of a payment that we had closed or given up, and its notices may all be lost. So it
-- is asked a few times more: `ask_at` says when next (NULL: no more), `asked_times` how often it was. `taken_minor` and
-- `taken_currency` are what the gateway took where that is not what it was asked for.
ALTER TABLE payment
    ADD COLUMN taken_minor BIGINT NULL,
    ADD COLUMN taken_currency CHAR(3) NULL,
    ADD COLUMN asked_times INT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN ask_at BIGINT NULL,
    ADD KEY payment_ask (ask_at),
    ADD CONSTRAINT payment_taken CHECK (taken_minor > 0);
UPDATE payment SET ask_at = update_time WHERE status IN (4, 5);

-- Each channel names its notices by itself, so two channels may use one name.
ALTER TABLE payment_callback DROP PRIMARY KEY, ADD PRIMARY KEY (channel, callback_id);

-- What a row is about is looked up, and rows of one kind are taken without looking at those of another.
ALTER TABLE outbox
    MODIFY COLUMN payload VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    DROP KEY outbox_due,
    ADD KEY outbox_due (dead_at, kind, next_at),
    ADD KEY outbox_about (payload, kind);
-- What is owed to customers or must be closed at a gateway is never given up any more.
UPDATE outbox SET dead_at = NULL WHERE kind IN ('refund.send', 'payment.close') AND dead_at IS NOT NULL;

-- Who ended a discrepancy by hand, and why.
ALTER TABLE discrepancy
    ADD COLUMN ended_by VARCHAR(64) NULL,
    ADD COLUMN note VARCHAR(500) NULL;
