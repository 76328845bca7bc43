"""Messages with others: ALF messages to rows and back, captured for the audit before anything is taken out of them."""
