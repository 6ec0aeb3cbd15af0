-- Orders that are over say so in their pieces, too: `order_piece.quantity` is what an order has of a piece, whatever its
-- state. So an order whose money went back after its show had begun can keep the places that nobody can use any more.
UPDATE order_piece SET quantity = 0
WHERE order_no IN (SELECT order_no FROM orders WHERE status IN (2, 5));
