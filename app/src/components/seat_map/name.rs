//! A seat's accessible name, `Row C, seat 12, Centre, ¥45.00, available`, which the server writes once and the browser takes
//! apart, so that it needs no list of all seats.

use crate::{
    domain::seat::SeatState,
    i18n::{Lang, show},
};

/// The name with another state as its last part.
pub fn with_state(lang: Lang, name: &str, state: SeatState, is_mine: bool) -> String {
    let separator = show::separator(lang);
    let rest = name.rsplit_once(separator).map_or(name, |(rest, _)| rest);
    format!(
        "{rest}{separator}{}",
        show::state_word(lang, state, is_mine)
    )
}

/// The place alone: what stands before [`show::name_middle`], or the whole name of a seat that has none.
pub fn place<'a>(name: &'a str, middle: &str) -> &'a str {
    name.rfind(middle).map_or(name, |end| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_a_name_follows_the_state() {
        let name = "Row C, seat 12, Centre, ¥45.00, available";
        let sold = with_state(Lang::En, name, SeatState::Sold, false);
        assert_eq!(sold, "Row C, seat 12, Centre, ¥45.00, sold");
        let mine = with_state(
            Lang::ZhCn,
            "C 排 12 座，中区，¥45.00，可选",
            SeatState::Locked,
            true,
        );
        assert_eq!(mine, "C 排 12 座，中区，¥45.00，您的座位");
    }

    #[test]
    fn a_place_is_found_whatever_the_zone_is_called() {
        let name = "Stalls, left, row C, seat 12, Stalls, left, ¥45.00, available";
        assert_eq!(
            place(name, ", Stalls, left, ¥45.00, "),
            "Stalls, left, row C, seat 12"
        );
        assert_eq!(
            place("Row A, seat 1, not offered", ", X, ¥1.00, "),
            "Row A, seat 1, not offered"
        );
    }
}
