//! Which colours a plan may name. They end up in styles, so nothing but a colour may pass.

/// `#` with 3, 4, 6 or 8 hexadecimal digits, or a CSS colour name.
pub(super) fn is_color(text: &str) -> bool {
    match text.strip_prefix('#') {
        Some(digits) => {
            matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit())
        }
        None => NAMES.contains(&text.to_ascii_lowercase().as_str()),
    }
}

/// CSS Color Module Level 4, section 6.1, and `transparent`.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "aliceblue", "antiquewhite", "aqua", "aquamarine", "azure", "beige", "bisque", "black", "blanchedalmond", "blue",
    "blueviolet", "brown", "burlywood", "cadetblue", "chartreuse", "chocolate", "coral", "cornflowerblue", "cornsilk",
    "crimson", "cyan", "darkblue", "darkcyan", "darkgoldenrod", "darkgray", "darkgreen", "darkgrey", "darkkhaki",
    "darkmagenta", "darkolivegreen", "darkorange", "darkorchid", "darkred", "darksalmon", "darkseagreen",
    "darkslateblue", "darkslategray", "darkslategrey", "darkturquoise", "darkviolet", "deeppink", "deepskyblue",
    "dimgray", "dimgrey", "dodgerblue", "firebrick", "floralwhite", "forestgreen", "fuchsia", "gainsboro",
    "ghostwhite", "gold", "goldenrod", "gray", "green", "greenyellow", "grey", "honeydew", "hotpink", "indianred",
    "indigo", "ivory", "khaki", "lavender", "lavenderblush", "lawngreen", "lemonchiffon", "lightblue", "lightcoral",
    "lightcyan", "lightgoldenrodyellow", "lightgray", "lightgreen", "lightgrey", "lightpink", "lightsalmon",
    "lightseagreen", "lightskyblue", "lightslategray", "lightslategrey", "lightsteelblue", "lightyellow", "lime",
    "limegreen", "linen", "magenta", "maroon", "mediumaquamarine", "mediumblue", "mediumorchid", "mediumpurple",
    "mediumseagreen", "mediumslateblue", "mediumspringgreen", "mediumturquoise", "mediumvioletred", "midnightblue",
    "mintcream", "mistyrose", "moccasin", "navajowhite", "navy", "oldlace", "olive", "olivedrab", "orange",
    "orangered", "orchid", "palegoldenrod", "palegreen", "paleturquoise", "palevioletred", "papayawhip", "peachpuff",
    "peru", "pink", "plum", "powderblue", "purple", "rebeccapurple", "red", "rosybrown", "royalblue", "saddlebrown",
    "salmon", "sandybrown", "seagreen", "seashell", "sienna", "silver", "skyblue", "slateblue", "slategray",
    "slategrey", "snow", "springgreen", "steelblue", "tan", "teal", "thistle", "tomato", "transparent", "turquoise",
    "violet", "wheat", "white", "whitesmoke", "yellow", "yellowgreen",
];

#[cfg(test)]
mod tests {
    use super::is_color;

    #[test]
    fn only_hex_and_css_names_are_colours() {
        for good in [
            "#fff",
            "#FFF8",
            "#1d4ed8",
            "#1D4ED8cc",
            "teal",
            "RebeccaPurple",
            "transparent",
        ] {
            assert!(is_color(good), "{good}");
        }
        for bad in [
            "",
            "#",
            "#12",
            "#12345",
            "#ggg",
            "fff",
            "red;x:y",
            "url(x)",
            "rgb(1,2,3)",
            " red",
        ] {
            assert!(!is_color(bad), "{bad}");
        }
    }
}
