package paymentsviews

import (
	"regexp"
	"slices"
	"strings"
)

// inside has the numbers that stand among other words, as in "acc 24016032 rent". Lists are never nil.
type inside struct {
	accounts []string // with the right check digit
	phones   []string
	invoices []named  // with the dash between prefix and number
	spelt    []string // digits that may be an account number with a slip
	words    []string // right before an account number: an invoice prefix, if an organization has it
}

// Shapes of numbers among words.
var (
	digitGroups  = regexp.MustCompile(`\+?[0-9]+(?:[` + dashes + ` .]{1,2}[0-9]+)*`)
	groupBounds  = regexp.MustCompile(`[^0-9+]+`)
	wordBefore   = regexp.MustCompile(`([A-Z0-9]{2,6})[^A-Z0-9]*$`)
	plainWord    = regexp.MustCompile(`[A-Z0-9]+`)
	dashedNumber = regexp.MustCompile(`\b([A-Z0-9]{2,6})[` + dashes + `]([0-9]{4,12})\b`) // as printed
)

// alike are the letters that people read and type for digits.
var alike = strings.NewReplacer("O", "0", "Q", "0", "I", "1", "L", "1", "S", "5", "B", "8", "Z", "2")

// leastDigits is how many digits a word has at least in which letters may stand for digits.
const leastDigits = 4

// readInside finds the numbers among the words of a text.
func readInside(text string) inside {
	in := inside{accounts: []string{}, phones: []string{}, spelt: []string{}, words: []string{}}
	text = strings.ToUpper(text)
	for _, at := range digitGroups.FindAllStringIndex(text, -1) {
		before := len(in.accounts) + len(in.spelt)
		in.group(text[at[0]:at[1]])
		m := wordBefore.FindStringSubmatch(text[:at[0]])
		if m != nil && letter.MatchString(m[1]) && len(in.accounts)+len(in.spelt) > before {
			in.words = append(in.words, m[1])
		}
	}
	for _, word := range plainWord.FindAllString(text, -1) {
		folded := alike.Replace(word)
		if folded != word && digitsIn(word) >= leastDigits && digits.MatchString(folded) {
			in.addNumber(folded)
		}
	}
	for _, m := range dashedNumber.FindAllStringSubmatch(text, -1) {
		if parts := partsOf(m[1], m[2]); parts != nil && !checked(m[2]) {
			in.invoices = append(in.invoices, named{parts: parts})
		}
	}
	return in
}

// group reads digits with single separators between them, which may be one number or several: each run of neighbours
// may be one. Behind a plus stands a phone in its international form, and nothing else.
func (in *inside) group(text string) {
	if strings.HasPrefix(text, "+") {
		in.phone(groupBounds.ReplaceAllString(text, ""))
		return
	}
	parts := groupBounds.Split(text, -1)
	for from := range parts {
		for to := from + 1; to <= len(parts); to++ {
			if number := strings.Join(parts[from:to], ""); to-from == 1 || to-from == len(parts) || checked(number) ||
				phoneKey(number) != "" {
				in.addNumber(number)
			}
		}
	}
}

// addNumber adds digits as what they may be.
func (in *inside) addNumber(number string) {
	if checked(number) {
		in.accounts = addOnce(in.accounts, number)
	}
	if !in.phone(number) && (named{account: number}).numeric() {
		in.spelt = addOnce(in.spelt, number)
	}
}

// phone adds a phone, and reports whether the digits are one.
func (in *inside) phone(number string) bool {
	phone := phoneKey(number)
	if phone != "" {
		in.phones = addOnce(in.phones, phone)
	}
	return phone != ""
}

// numbers are those of the invoices, in the form in which they are issued; never nil.
func (in inside) numbers() []string {
	list := []string{}
	for _, n := range in.invoices {
		list = append(list, n.numbers()...)
	}
	return list
}

// naming are the words that an organization may have as its invoice prefix; never nil.
func (in inside) naming() []string {
	list := append([]string{}, in.words...)
	for _, n := range in.invoices {
		list = append(list, n.parts[0].prefix)
	}
	return list
}

// countNumbers counts the different numbers of the text, where the organizations have these invoice prefixes.
func (in inside) countNumbers(prefixes []string) int {
	invoices := []string{}
	for _, n := range in.invoices {
		if slices.Contains(prefixes, n.parts[0].prefix) {
			invoices = addOnce(invoices, n.numbers()[0])
		}
	}
	return len(in.accounts) + len(in.phones) + len(invoices)
}

// addOnce appends a text that the list does not have.
func addOnce(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// digitsIn counts the digits of a text.
func digitsIn(text string) (n int) {
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// checked reports whether a text has the form of an account number, with the right check digit (Luhn, ISO/IEC 7812-1).
func checked(text string) bool {
	if len(text) != accountLength || digitsIn(text) != accountLength {
		return false
	}
	sum := 0
	for i, r := range text {
		d := int(r - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
