//! What every plot begins with, and text as it may stand in one.

/// Width of every plot in its own units; the page scales it.
pub(super) const WIDTH: f64 = 960.0;

/// Opens a plot: its title and description are what a screen reader says.
pub(super) fn open(id: &str, height: f64, title: &str, description: &str) -> String {
    format!(
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title>\
         <desc id=\"{id}-desc\">{}</desc>",
        escape(title),
        escape(description)
    )
}

/// Text for element content and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Not allowed in XML, nor visible.
            character if character.is_control() && character != '\n' => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// The text, cut to `limit` characters.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit.saturating_sub(1)).chain(['…']).collect()
}
