-- Giving tickets back, the tax within prices, and a ledger that can't be unbalanced.

-- How long before its start a show takes tickets back from customers (NULL: never), and what is kept of their price.
ALTER TABLE shows
    ADD COLUMN refund_until_ms BIGINT NULL DEFAULT 86400000,
    ADD COLUMN refund_fee_percent TINYINT UNSIGNED NOT NULL DEFAULT 0,
    ADD CONSTRAINT shows_refund_until CHECK (refund_until_ms >= 0),
    ADD CONSTRAINT shows_refund_fee CHECK (refund_fee_percent <= 99);

-- The tax that a venue's prices contain, in hundredths of a percent.
ALTER TABLE venue ADD COLUMN tax_basis_points INT UNSIGNED NOT NULL DEFAULT 0;

-- `requested_by` is an account, NULL for the system and for commands. `request_key` names the customer's submission, so
-- that a repeat finds what the first one requested. A refund that the gateway accepted and then failed is tried again
-- under another number there: `attempt` says under which.
ALTER TABLE refund
    ADD COLUMN fee_minor BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN requested_by BIGINT UNSIGNED NULL,
    ADD COLUMN request_key VARCHAR(64) COLLATE utf8mb4_bin NULL,
    ADD COLUMN note VARCHAR(500) NULL,
    ADD COLUMN attempt INT UNSIGNED NOT NULL DEFAULT 1,
    ADD COLUMN fail_reason VARCHAR(200) NULL,
    ADD COLUMN sent_at BIGINT NULL,
    ADD COLUMN failed_at BIGINT NULL,
    ADD UNIQUE KEY refund_request (order_no, request_key),
    ADD KEY refund_status (status, requested_at),
    ADD CONSTRAINT refund_fee CHECK (fee_minor >= 0);

-- A ticket is refunded once, kept so by the key. `amount_minor` is what goes back for it, `fee_minor` what is kept.
CREATE TABLE refund_item (
    order_no BIGINT NOT NULL,
    item_no INT UNSIGNED NOT NULL,
    refund_id BIGINT UNSIGNED NOT NULL,
    amount_minor BIGINT NOT NULL,
    fee_minor BIGINT NOT NULL,
    PRIMARY KEY (order_no, item_no),
    KEY refund_item_refund (refund_id),
    CONSTRAINT refund_item_amounts CHECK (amount_minor >= 0 AND fee_minor >= 0)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

-- Double entry with a posting a row: a column an account, debits positive, and a check that they add up to zero. Nothing
-- is ever changed or deleted.
CREATE TABLE ledger_posting (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    posting VARCHAR(80) COLLATE utf8mb4_bin NOT NULL,
    order_no BIGINT NOT NULL,
    currency CHAR(3) NOT NULL,
    gateway BIGINT NOT NULL DEFAULT 0,
    sales BIGINT NOT NULL DEFAULT 0,
    fees BIGINT NOT NULL DEFAULT 0,
    owed_to_customers BIGINT NOT NULL DEFAULT 0,
    discrepancy BIGINT NOT NULL DEFAULT 0,
    posted_at BIGINT NOT NULL,
    UNIQUE KEY ledger_posting_name (posting),
    KEY ledger_posting_order (order_no),
    CONSTRAINT ledger_posting_balanced CHECK (gateway + sales + fees + owed_to_customers + discrepancy = 0),
    CONSTRAINT ledger_posting_moves CHECK (
        gateway <> 0 OR sales <> 0 OR fees <> 0 OR owed_to_customers <> 0 OR discrepancy <> 0
    )
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

INSERT INTO ledger_posting (posting, order_no, currency, gateway, sales, owed_to_customers, posted_at)
SELECT
    posting, MIN(order_no), currency,
    SUM(CASE WHEN account = 'gateway' THEN amount_minor ELSE 0 END),
    SUM(CASE WHEN account = 'sales' THEN amount_minor ELSE 0 END),
    SUM(CASE WHEN account = 'owed_to_customers' THEN amount_minor ELSE 0 END),
    MIN(posted_at)
FROM ledger_entry
GROUP BY posting, currency
ORDER BY MIN(id);

-- The entries as they were read before. Nobody writes them any more.
DROP TABLE ledger_entry;

CREATE VIEW ledger_entry AS
SELECT posting, 'gateway' AS account, gateway AS amount_minor, currency, order_no, posted_at
FROM ledger_posting WHERE gateway <> 0
UNION ALL
SELECT posting, 'sales', sales, currency, order_no, posted_at
FROM ledger_posting WHERE sales <> 0
UNION ALL
SELECT posting, 'fees', fees, currency, order_no, posted_at
FROM ledger_posting WHERE fees <> 0
UNION ALL
SELECT posting, 'owed_to_customers', owed_to_customers, currency, order_no, posted_at
FROM ledger_posting WHERE owed_to_customers <> 0
UNION ALL
SELECT posting, 'discrepancy', discrepancy, currency, order_no, posted_at
FROM ledger_posting WHERE discrepancy <> 0;
