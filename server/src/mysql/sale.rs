//! The sale of a show as Redis must have it, read at one moment.

use super::{
    Db, DbError,
    orders::{ItemRecord, OrderRecord, items_in, live_orders_in},
    show_terms::{TermsRecord, terms_in},
    shows::{TakenSeat, taken_seats_in},
    standing::{PieceOfOrder, pieces_with_totals_in, taken_pieces_in},
};
use crate::redis::keys::Piece;
use app::domain::ids::{OrderNo, ShowId};
use sqlx::{Connection, Executor};
use std::collections::HashMap;

/// Orders whose tickets are read at once.
const PART: usize = 500;

/// Everything about a show's sale that changes.
#[derive(Debug, Clone)]
pub struct Sale {
    /// On which terms it is sold.
    pub terms: TermsRecord,
    /// The orders that own their seats.
    pub orders: Vec<OrderRecord>,
    /// Their tickets.
    pub items: HashMap<OrderNo, Vec<ItemRecord>>,
    /// Seats that are claimed or withheld.
    pub taken: Vec<TakenSeat>,
    /// The pieces of its standing zones, each with its places.
    pub pieces: Vec<(Piece, u32)>,
    /// What orders have of them.
    pub places: Vec<PieceOfOrder>,
}

impl Db {
    /// A show's sale in one consistent snapshot: an order is never read without its claims, nor a claim without its order.
    /// None when there is no such show.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sale_of_show(&self, show: ShowId) -> Result<Option<Sale>, DbError> {
        let mut connection = self.pool().acquire().await?;
        // For the next transaction only; a snapshot exists in this isolation alone.
        connection
            .execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            .await?;
        let mut tx = connection
            .begin_with("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            .await?;
        let Some(terms) = terms_in(&mut tx, show).await? else {
            return Ok(None);
        };
        let orders = live_orders_in(&mut tx, show).await?;
        let numbers: Vec<OrderNo> = orders.iter().map(|order| order.order_no).collect();
        let mut items = HashMap::with_capacity(orders.len());
        for part in numbers.chunks(PART) {
            items.extend(items_in(&mut tx, part).await?);
        }
        let taken = taken_seats_in(&mut tx, show).await?;
        let pieces = pieces_with_totals_in(&mut tx, show).await?;
        let places = taken_pieces_in(&mut tx, show).await?;
        tx.commit().await?;
        Ok(Some(Sale {
            terms,
            orders,
            items,
            taken,
            pieces,
            places,
        }))
    }
}
