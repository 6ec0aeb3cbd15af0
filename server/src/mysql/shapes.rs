//! Few shapes of a statement: lists are written in parts whose lengths are powers of two, and read with their length filled
//! up to one.
//!
//! A statement of each length of its list would have to be thrown away after its use, and closing a statement is a message
//! without an answer. The next message waits behind it until the server's acknowledgement comes, about 40 ms (Nagle's
//! algorithm against delayed acknowledgements; the driver can't turn the first one off). With few shapes every statement
//! stays prepared.

/// Parts of a list whose lengths are powers of two, the longest first.
pub(in crate::mysql) fn parts<T>(list: &[T]) -> impl Iterator<Item = &[T]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let length = 1_usize << rest.len().checked_ilog2()?;
        let (part, left) = rest.split_at(length);
        rest = left;
        Some(part)
    })
}

/// A list for an `IN`: filled up to a power of two by repeating its last entry, which changes nothing.
pub(in crate::mysql) fn filled_up<T: Copy>(list: &[T]) -> Vec<T> {
    let mut filled = list.to_vec();
    if let Some(last) = list.last() {
        filled.resize(list.len().next_power_of_two(), *last);
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_the_whole_list_in_few_lengths() {
        for length in 0..300 {
            let list: Vec<usize> = (0..length).collect();
            let parts: Vec<&[usize]> = parts(&list).collect();
            assert!(parts.iter().all(|part| part.len().is_power_of_two()));
            assert!(parts.windows(2).all(|pair| pair[0].len() > pair[1].len()));
            assert_eq!(parts.concat(), list);
        }
    }

    #[test]
    fn a_filled_list_has_the_same_entries() {
        assert_eq!(filled_up::<u8>(&[]), Vec::<u8>::new());
        assert_eq!(filled_up(&[1, 2, 3]), [1, 2, 3, 3]);
        assert_eq!(filled_up(&[1, 2]), [1, 2]);
    }
}
