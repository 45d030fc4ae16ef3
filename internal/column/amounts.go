package column

import (
	"errors"
	"regexp"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// Faults of one amount. Each text follows the name of a field.
var (
	ErrNoAmount      = errors.New("must be an amount such as 1500 or 1,500.50")
	ErrUnclearAmount = errors.New("can be read as two amounts: write it such as 1500.50")
	ErrOtherCurrency = errors.New("has the sign of another currency")
)

// Amounts reads the amounts of a column in one currency. Add takes all its cells first, then Read reads them. Several
// columns that one program has written may share it. Most cells are clear alone: 1,500.50 and 1.500,50 and 1500,5. A
// lone comma before three digits separates thousands, unless other cells have it before decimals. A lone dot before
// three digits does so only when other cells have commas before decimals, and is unclear otherwise. Not safe for
// concurrent use; after the last Add, Read is.
type Amounts struct {
	currency        money.Currency
	dotted, commaed bool           // a cell has decimals behind a dot, or behind a comma
	before, behind  *regexp.Regexp // find the number behind, and before, a sign of the currency
}

// NewAmounts makes a reader of amounts in a currency.
func NewAmounts(currency money.Currency) *Amounts {
	signs := signsOf(currency)
	return &Amounts{
		currency: currency,
		before:   regexp.MustCompile(`(?i)^(?:` + signs + `)\.? ?(.+)$`),
		behind:   regexp.MustCompile(`(?i)^(.*[^ ]) ?(?:` + signs + `)\.?$`),
	}
}

// The forms of a number without sign and currency. Groups never begin with zero: 0,500 may be a half.
var (
	plainWhole  = regexp.MustCompile(`^\d+$`)
	spaceGroups = regexp.MustCompile(`^([1-9]\d{0,2}(?: \d{3})+)(?:([.,])(\d+))?$`)
	commaGroups = regexp.MustCompile(`^([1-9]\d{0,2}(?:,\d{3})+)(?:(\.)(\d+))?$`)
	dotGroups   = regexp.MustCompile(`^([1-9]\d{0,2}(?:\.\d{3})+)(?:(,)(\d+))?$`)
	noGroups    = regexp.MustCompile(`^(\d+)([.,])(\d+)$`)
	loneMark    = regexp.MustCompile(`^[1-9]\d{0,2}([.,])\d{3}$`)
)

// Add takes the cell of a row into account.
func (a *Amounts) Add(text string) {
	n, err := a.splitAmount(text)
	if err != nil {
		return
	}
	_, mark := splitNumber(n.digits)
	a.dotted, a.commaed = a.dotted || mark == '.', a.commaed || mark == ','
}

// Read reads one cell; "" and "-" are zero. Fails: ErrNoAmount, ErrUnclearAmount, ErrOtherCurrency.
func (a *Amounts) Read(text string) (money.Amount, error) {
	n, err := a.splitAmount(text)
	if err != nil || n.digits == "" {
		return money.Of(0, a.currency), err
	}
	plain, _ := splitNumber(n.digits)
	if lone := loneMark.FindStringSubmatch(n.digits); lone != nil {
		if a.commaed && (a.dotted || lone[1] == ",") || lone[1] == "." && !a.commaed {
			return money.Amount{}, ErrUnclearAmount
		}
		plain = strings.NewReplacer(".", "", ",", "").Replace(n.digits)
	}
	if plain == "" {
		return money.Amount{}, ErrNoAmount
	}
	amount, err := money.Parse(plain, a.currency)
	if err != nil {
		return money.Amount{}, ErrNoAmount
	}
	if n.negative {
		amount = amount.Neg()
	}
	return amount, nil
}

// splitNumber gives a number that is clear alone with a dot before its decimals, and the mark that it shows before
// decimals; 0 when it shows none. plain is "" for a text of no known form, and for a lone mark before three digits.
func splitNumber(digits string) (plain string, mark byte) {
	if plainWhole.MatchString(digits) {
		return digits, 0
	}
	if loneMark.MatchString(digits) {
		return "", 0
	}
	for _, form := range []*regexp.Regexp{noGroups, spaceGroups, commaGroups, dotGroups} {
		m := form.FindStringSubmatch(digits)
		if m == nil {
			continue
		}
		whole := strings.NewReplacer(" ", "", ",", "", ".", "").Replace(m[1])
		switch {
		case m[3] != "":
			return whole + "." + m[3], m[2][0]
		case form == commaGroups:
			return whole, '.'
		case form == dotGroups:
			return whole, ','
		}
		return whole, 0
	}
	return "", 0
}

// amountText is an amount without its sign and its currency. digits is "" for an empty cell.
type amountText struct {
	digits   string
	negative bool
}

// splitAmount takes sign and currency off. A negative amount has a hyphen at either end or between currency and
// number, or brackets around all or around the number; only one of them. Fails: ErrNoAmount, ErrOtherCurrency.
func (a *Amounts) splitAmount(text string) (n amountText, err error) {
	if len(text) > MaxLength {
		return n, ErrNoAmount
	}
	text = Clean(text)
	if text == "" || text == "-" {
		return n, nil
	}
	signs := 0
	takeSigns := func() {
		without, found := strings.CutPrefix(text, "(")
		if found {
			without, found = strings.CutSuffix(without, ")")
		}
		for _, sign := range []func(string, string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
			if !found {
				without, found = sign(a.withoutNoCents(text), "-")
			}
		}
		if found {
			text, signs = strings.TrimSpace(without), signs+1
		}
	}
	takeSigns()
	text = a.withoutCurrency(a.withoutNoCents(text))
	takeSigns()
	switch {
	case otherCurrency.MatchString(text):
		return n, ErrOtherCurrency
	case signs > 1 || text == "":
		return n, ErrNoAmount
	}
	return amountText{digits: text, negative: signs == 1}, nil
}

// otherCurrency finds the sign or the code of a currency before or behind digits.
var otherCurrency = regexp.MustCompile(`(?i)^([a-z]{2,4}\.?|[$€£₦₵]) ?-?\d|\d ?([a-z]{2,4}\.?|[$€£₦₵])$`)

// noCents stands for "no cents" behind shillings.
var noCents = regexp.MustCompile(` ?/[=-]$`)

// withoutNoCents takes off what stands for no cents behind shillings.
func (a *Amounts) withoutNoCents(text string) string {
	if !isShilling(a.currency) {
		return text
	}
	return noCents.ReplaceAllString(text, "")
}

// withoutCurrency takes the sign of the currency off one end.
func (a *Amounts) withoutCurrency(text string) string {
	if m := a.before.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := a.behind.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}

// isShilling reports whether a currency is a shilling.
func isShilling(c money.Currency) bool { return c == "KES" || c == "UGX" || c == "TZS" }

// signsOf gives the signs of a currency as alternatives of a regular expression: its code, and what people write.
func signsOf(c money.Currency) string {
	signs := regexp.QuoteMeta(string(c))
	switch {
	case isShilling(c):
		signs += "|shs?|" + strings.ToLower(string(c[:1])) + "shs?"
	case c == "USD":
		signs += `|us\$|\$`
	case c == "EUR":
		signs += "|€"
	case c == "GBP":
		signs += "|£"
	case c == "NGN":
		signs += "|₦"
	case c == "GHS":
		signs += "|gh₵|₵"
	}
	return signs
}
