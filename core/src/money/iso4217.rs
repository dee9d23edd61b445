//! ISO 4217: the currencies in which money can be moved, as one short text. A browser loads it with every module that handles
//! money, so it is data instead of code. A test compares it with the crate `iso_currency`.

/// For each currency its code, the three digits of its number, and the decimals of its minor unit; sorted by code.
const TABLE: &str = "\
AED7842AFN9712ALL0082AMD0512AOA9732ARS0322AUD0362AWG5332AZN9442BAM9772BBD0522BDT0502BGN9752BHD0483BIF1080BMD0602\
BND0962BOB0682BRL9862BSD0442BTN0642BWP0722BYN9332BZD0842CAD1242CDF9762CHF7562CLP1520CNY1562COP1702CRC1882CUC9312\
CUP1922CVE1322CZK2032DJF2620DKK2082DOP2142DZD0122EGP8182ERN2322ETB2302EUR9782FJD2422FKP2382GBP8262GEL9812GHS9362\
GIP2922GMD2702GNF3240GTQ3202GYD3282HKD3442HNL3402HRK1912HTG3322HUF3482IDR3602ILS3762INR3562IQD3683IRR3642ISK3520\
JMD3882JOD4003JPY3920KES4042KGS4172KHR1162KMF1740KPW4082KRW4100KWD4143KYD1362KZT3982LAK4182LBP4222LKR1442LRD4302\
LSL4262LYD4343MAD5042MDL4982MGA9692MKD8072MMK1042MNT4962MOP4462MRU9292MUR4802MVR4622MWK4542MXN4842MYR4582MZN9432\
NAD5162NGN5662NIO5582NOK5782NPR5242NZD5542OMR5123PAB5902PEN6042PGK5982PHP6082PKR5862PLN9852PYG6000QAR6342RON9462\
RSD9412RUB6432RWF6460SAR6822SBD0902SCR6902SDG9382SEK7522SGD7022SHP6542SLE9252SLL6942SOS7062SRD9682SSP7282STN9302\
SVC2222SYP7602SZL7482THB7642TJS9722TMT9342TND7883TOP7762TRY9492TTD7802TWD9012TZS8342UAH9802UGX8000USD8402UYU8582\
UZS8602VED9262VES9282VND7040VUV5480WST8822XAF9500XCD9512XCG5322XOF9520XPF9530YER8862ZAR7102ZMW9672ZWG9242ZWL9322";
const WIDTH: usize = 7;
const COUNT: usize = TABLE.len() / WIDTH;

/// The index in the table for each number; [`NONE`] if there is none.
const BY_NUMERIC: [u8; 1000] = by_numeric();
const NONE: u8 = u8::MAX;

/// The index of a currency in the table. Indexes sort like codes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u8);

impl Place {
    pub(super) fn from_code(code: &str) -> Option<Self> {
        let (mut low, mut high) = (0, COUNT);
        while low < high {
            let middle = low.midpoint(high);
            match at(middle, 0, 3).cmp(code) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return u8::try_from(middle).ok().map(Self),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn from_numeric(numeric: u16) -> Option<Self> {
        BY_NUMERIC.get(usize::from(numeric)).copied().filter(|place| *place != NONE).map(Self)
    }

    pub(super) fn code(self) -> &'static str {
        at(self.0.into(), 0, 3)
    }

    pub(super) fn numeric(self) -> u16 {
        at(self.0.into(), 3, 6).bytes().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'))
    }

    pub(super) fn minor_units(self) -> u8 {
        at(self.0.into(), 6, 7).bytes().fold(0, |_, digit| digit - b'0')
    }
}

/// A column of an entry. The table is ASCII, so every index is a character boundary.
fn at(place: usize, from: usize, to: usize) -> &'static str {
    TABLE.get(place * WIDTH + from..place * WIDTH + to).unwrap_or_default()
}

const fn by_numeric() -> [u8; 1000] {
    let (table, mut places, mut place) = (TABLE.as_bytes(), [NONE; 1000], 0);
    while place < COUNT {
        let (mut number, mut digit) = (0, 3);
        while digit < 6 {
            number = number * 10 + (table[place * WIDTH + digit] - b'0') as usize;
            digit += 1;
        }
        places[number] = place as u8;
        place += 1;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_standard_s() {
        let usable = |known: &iso_currency::Currency| known.exponent().is_some() && !known.is_fund() && !known.is_special();
        let mut known: Vec<_> = (0..1000).filter_map(iso_currency::Currency::from_numeric).filter(usable).collect();
        known.sort_by_key(|currency| currency.code());
        assert_eq!((known.len(), TABLE.len()), (COUNT, COUNT * WIDTH));
        for (place, currency) in known.iter().enumerate() {
            let ours = Place::from_code(currency.code()).unwrap();
            assert_eq!(usize::from(ours.0), place);
            assert!(Place::from_numeric(currency.numeric()) == Some(ours));
            assert_eq!(
                (ours.code(), ours.numeric(), Some(u16::from(ours.minor_units()))),
                (currency.code(), currency.numeric(), currency.exponent())
            );
        }
        let letters = || b'A'..=b'Z';
        let codes = letters().flat_map(|a| letters().flat_map(move |b| letters().map(move |c| String::from_utf8(vec![a, b, c]).unwrap())));
        assert_eq!(codes.filter(|code| Place::from_code(code).is_some()).count(), COUNT);
        assert_eq!((0..=u16::MAX).filter(|number| Place::from_numeric(*number).is_some()).count(), COUNT);
        for bad in ["", "EU", "EURO", "eur", "ÄÖ", "HRK1912"] {
            assert_eq!(Place::from_code(bad).map(Place::code), None, "{bad}");
        }
    }
}
