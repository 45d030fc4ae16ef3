package commands

import "strings"

// reservedPrefixes lists words that people type with a number when they pay: where they live, what they pay for, how
// they pay, the month. As an invoice prefix such a word would take what customers of other organizations type on the
// shared paybill (docs/rules/payments.md#shared-paybill).
var reservedPrefixes = map[string]bool{
	"HOUSE": true, "HSE": true, "HOME": true, "NYUMBA": true, "ROOM": true, "RM": true, "FLAT": true, "APT": true,
	"UNIT": true, "BLOCK": true, "BLK": true, "DOOR": true, "FLOOR": true, "SHOP": true, "STALL": true, "PLOT": true,
	"COURT": true, "GATE": true, "PHASE": true, "HOSTEL": true,
	"WIFI": true, "RENT": true, "BILL": true, "FEE": true, "PAY": true, "PAID": true, "CASH": true, "MPESA": true,
	"TILL": true, "KES": true, "KSH": true, "PLAN": true, "AC": true,
	"NO": true, "NUM": true, "NUMBER": true, "REF": true, "ACC": true, "ACCT": true, "ACCNO": true, "ACNO": true,
	"INV": true, "INVNO": true, "USER": true, "CLIENT": true, "CUST": true, "PHONE": true, "TEL": true, "NAME": true,
	"DAY": true, "DAYS": true, "WEEK": true, "WEEKS": true, "MONTH": true, "MONTHS": true, "MWEZI": true, "YEAR": true,
	"JAN": true, "FEB": true, "MAR": true, "MARCH": true, "APR": true, "APRIL": true, "MAY": true, "JUN": true,
	"JUNE": true, "JUL": true, "JULY": true, "AUG": true, "AUGUST": true, "SEP": true, "SEPT": true, "OCT": true,
	"NOV": true, "DEC": true,
}

// ReservedPrefix reports whether no organization may take the invoice prefix: it is such a word, or one with digits
// behind it ("HOUSE2" would be read out of "house 21").
func ReservedPrefix(prefix string) bool {
	return reservedPrefixes[strings.TrimRight(prefix, "0123456789")]
}
