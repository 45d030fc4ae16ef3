package mobilemoney

import (
	"regexp"
	"strings"
)

// LineKind says what a movement is.
type LineKind string

// The kinds. Only LinePayment and LinePrompt are money of a customer. Source: docs/facts/mobile-money.md#statement.
const (
	LinePayment     LineKind = "payment"      // a customer paid the paybill
	LinePrompt      LineKind = "prompt"       // a customer paid through a prompt or the provider's app
	LineBusiness    LineKind = "business"     // another business, or a bank, paid the paybill
	LineOwnTransfer LineKind = "own_transfer" // between accounts of the organization
	LineLoan        LineKind = "loan"         // lent by the provider or a bank, or paid back
	LineCharge      LineKind = "charge"
	LineReversal    LineKind = "reversal"
	LineWithdrawal  LineKind = "withdrawal" // to a bank or an agent
	LinePayout      LineKind = "payout"     // to a customer, an employee or a supplier
	LineFailed      LineKind = "failed"     // moved nothing
	LineUnknown     LineKind = "unknown"    // the statement does not say, or contradicts itself
	// LineSettlement is no kind of a line: its two halves are an own transfer and a withdrawal.
	LineSettlement LineKind = "settlement"
)

// OfCustomer reports whether the movement is money that a customer paid.
func (k LineKind) OfCustomer() bool { return k == LinePayment || k == LinePrompt }

// kindWords are the words by which the provider names kinds, in the order in which they are tried. They are compared
// with the provider's own part of a text, in small letters.
var kindWords = []struct {
	kind  LineKind
	words *regexp.Regexp
}{
	{LineCharge, regexp.MustCompile(`\b(charges?|fees?|tariff|levy|excise duty)$`)},
	{LineReversal, regexp.MustCompile(`\brevers(al|ed)\b`)},
	{LinePayment, regexp.MustCompile(`^(customer |small business |standing order )?` +
		`(pay ?bill|pay utility|buy goods|pay merchant|merchant payment)` +
		`( online| via (stk|ussd|sim toolkit)| with od| fuliza( m-?pesa)?)*$`)},
	{LineLoan, regexp.MustCompile(`\b(loans?|overdraft|fuliza|od|advance)\b`)},
	{LineWithdrawal, regexp.MustCompile(`\bwithdraw(al|n)?\b|\bto bank\b|^real time\b`)},
	{LineOwnTransfer, regexp.MustCompile(`\baccount to\b|^(funds transfer|transfer of funds|revenue settlement)\b|` +
		`^((utility|working|mmf|settlement|float) to|merchant to (utility|working|mmf|settlement|organi[sz]ation))\b`)},
	{LineSettlement, regexp.MustCompile(`\bsettle(ment)?\b|^utility account\b`)},
	{LineBusiness, regexp.MustCompile(`^(fsi|merchant|bank) .*(pay ?bill|pay utility)\b|` +
		`^(organi[sz]ation|business) (pay ?bill|pay utility|payment)( via [a-z]+)?$`)},
	{LinePayout, regexp.MustCompile(`^(salary|promotion|business|b2c|b2b|offnet b2c)\b|\bto customer\b`)},
}

// byPrompt finds the words for a payment through a prompt or the provider's app.
var byPrompt = regexp.MustCompile(`(?i)\b(online|stk)\b`)

// kindOfWords gives the kind that the provider's own words name; "" when they name none.
func kindOfWords(said string) LineKind {
	said = strings.ToLower(said)
	for _, one := range kindWords {
		if one.words.MatchString(said) {
			return one.kind
		}
	}
	return ""
}

// kindOf tells movements apart by the words with which the provider begins their details, and by the reason type where
// these say nothing. What the payer typed, and the payer's name, say nothing. Where they contradict each other, or the
// side of the money, the kind is unknown.
func kindOf(l StatementLine, status, reason string) LineKind {
	if status != "" && !strings.EqualFold(status, "completed") {
		return LineFailed
	}
	said, because := providersWords(l.Details), providersWords(reason)
	kind, reasonKind := kindOfWords(said), kindOfWords(because)
	switch {
	case l.Details == "" && reason == "" && (l.AccountRef != "" || isPhone(l.Party.Number)):
		kind = LinePayment // a file without words: only customers type an account, or have a phone
	case kind == "":
		kind = reasonKind
	case kind == LinePayment && reasonKind != "" && reasonKind != LinePayment:
		return LineUnknown
	}
	in := !l.PaidIn.IsZero()
	switch kind {
	case LinePayment:
		switch {
		case !in && payingTo.MatchString(l.Details):
			return LinePayout
		case in == payingTo.MatchString(l.Details):
			return LineUnknown
		case isBusinessNumber(l.Party.Number):
			return LineBusiness
		case byPrompt.MatchString(said + " " + because):
			return LinePrompt
		}
		return LinePayment
	case LineSettlement:
		if in {
			return LineOwnTransfer
		}
		return LineWithdrawal
	case LineBusiness:
		if !in {
			return LinePayout
		}
	case LineWithdrawal, LinePayout:
		if in {
			return LineUnknown
		}
	case "":
		return LineUnknown
	}
	return kind
}

// payingTo finds a payment of the organization itself: the number of the other party stands behind "to".
var payingTo = regexp.MustCompile(`(?i)^[a-z -]+ to +[0-9+*]`)

// partyOrAccount finds where the other party, or what the payer typed, begins in details.
var partyOrAccount = regexp.MustCompile(`(?i)(^|\s)((from|by)\s|to +[0-9+*]|- |acc\. ?)`)

// providersWords gives details without the other party and what the payer typed, which stand behind the provider's
// own words.
func providersWords(details string) string {
	if at := partyOrAccount.FindStringIndex(details); at != nil {
		details = details[:at[0]]
	}
	return strings.TrimSpace(details)
}

// Numbers of other parties: phones, also with masked digits, and shortcodes.
var (
	phoneShape    = regexp.MustCompile(`^\+?(254|0)[0-9*]{6,}$`)
	businessShape = regexp.MustCompile(`^[0-9]{4,8}$`)
)

// isPhone reports whether the number of a party is a phone, whole or masked.
func isPhone(number string) bool { return phoneShape.MatchString(number) }

// isBusinessNumber reports whether the number of a party is a shortcode.
func isBusinessNumber(number string) bool { return businessShape.MatchString(number) }
