//! Attendees: a customer's list of people, and who of them an order's tickets are for.

use super::{Ticketing, failure::OrTell};
use crate::{
    kafka::messages::PlacedAttendee,
    mysql::attendees::{Added, NewAttendee},
};
use app::{
    domain::{
        attendee::{ATTENDEES_MAX, Attendee, Document, DocumentKind, checked_name},
        hold::{Refusal, checked_attendees},
        ids::AttendeeId,
        user::User,
    },
    error::{AppError, Field, Thing},
};
use std::collections::HashMap;

fn list_max() -> u32 {
    u32::try_from(ATTENDEES_MAX).unwrap_or(u32::MAX)
}

impl Ticketing {
    /// The user's list, oldest entry first.
    ///
    /// # Errors
    /// `Busy` or `Internal`.
    pub async fn attendees(&self, user: &User) -> Result<Vec<Attendee>, AppError> {
        let listed = self.inner.db.attendees_of(user.id, list_max()).await;
        let listed = listed.or_tell("list attendees")?;
        Ok(listed.into_iter().map(|record| record.attendee).collect())
    }

    /// Puts a person into the user's list. Of the document only a keyed hash and the last characters are kept.
    ///
    /// # Errors
    /// `Invalid` with the field, `AttendeeListed`, `AttendeesFull`, `Busy` or `Internal`.
    pub async fn add_attendee(
        &self,
        user: &User,
        name: &str,
        kind: &str,
        number: &str,
    ) -> Result<Attendee, AppError> {
        let invalid = |field| AppError::Invalid { field };
        let name = checked_name(name).ok_or(invalid(Field::Name))?;
        let kind = DocumentKind::from_word(kind).ok_or(invalid(Field::DocumentKind))?;
        let document = Document::parse(kind, number).ok_or(invalid(Field::DocumentNumber))?;
        let identity = self.inner.identities.of_document(&document);
        let new = NewAttendee {
            user: user.id,
            name: &name,
            document_kind: kind,
            document_tail: document.tail(),
            identity: &identity,
        };
        let added = self.inner.db.insert_attendee(&new, list_max(), self.now());
        match added.await.or_tell("add attendee")? {
            Added::Added(id) => Ok(Attendee {
                id,
                document_kind: kind,
                document_tail: document.tail().to_owned(),
                name,
            }),
            Added::Known => Err(AppError::AttendeeListed),
            Added::Full => Err(AppError::AttendeesFull { most: list_max() }),
        }
    }

    /// Takes a person off the user's list; orders that name them stay as they are.
    ///
    /// # Errors
    /// `NotFound` when the list has no such entry, also when another's has; `Busy` or `Internal`.
    pub async fn remove_attendee(&self, user: &User, id: AttendeeId) -> Result<(), AppError> {
        let removed = self.inner.db.remove_attendee(user.id, id, self.now()).await;
        if removed.or_tell("remove attendee")? {
            Ok(())
        } else {
            Err(AppError::NotFound {
                what: Thing::Attendee,
            })
        }
    }

    /// The people of the user's list whom so many tickets are for, in the order in which they were named.
    ///
    /// # Errors
    /// `Refused` when it is not one known person a ticket; `Busy` or `Internal`.
    pub(super) async fn named_attendees(
        &self,
        user: &User,
        named: &[AttendeeId],
        tickets: usize,
    ) -> Result<Vec<PlacedAttendee>, AppError> {
        let named = checked_attendees(named, tickets)?;
        let listed = self.inner.db.attendees_by_id(user.id, named).await;
        let mut listed: HashMap<AttendeeId, PlacedAttendee> = listed
            .or_tell("place order")?
            .into_iter()
            .map(|record| {
                let attendee = PlacedAttendee {
                    id: record.attendee.id,
                    name: record.attendee.name,
                    identity: record.identity,
                };
                (attendee.id, attendee)
            })
            .collect();
        let attendee = |&attendee: &AttendeeId| {
            let unknown = Refusal::UnknownAttendee { attendee };
            listed.remove(&attendee).ok_or(AppError::from(unknown))
        };
        named.iter().map(attendee).collect()
    }
}
