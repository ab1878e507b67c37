"""What people look at: reports that check themselves, and figures."""
