//! What devices measure.

use crate::lifecycle::stored_enum;

stored_enum! {
    /// What a value is measured in.
    pub enum QualityUnit {
        /// Milliseconds.
        Milliseconds = 1 "ms",
        /// Seconds.
        Seconds = 2 "s",
        /// A number of things.
        Count = 3 "count",
        /// Bytes.
        Bytes = 4 "bytes",
        /// Hundredths.
        Percent = 5 "percent",
    }
}

stored_enum! {
    /// What a device was connected by.
    pub enum Network {
        /// A wireless network.
        Wifi = 1 "wifi",
        /// A mobile network.
        Cellular = 2 "cellular",
        /// A cable.
        Ethernet = 3 "ethernet",
        /// Nothing.
        Offline = 4 "offline",
        /// The app did not say.
        Unknown = 5 "unknown",
    }
}
