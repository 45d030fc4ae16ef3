package mobilemoney

import (
	"regexp"
	"strings"
)

// prosePayer finds who paid, and what they typed, in details such as "Pay Bill from 2547****376 - NAME Acc. 24016032".
// A bank writes its channel behind them: "… Acc. 24016032 via WEB by …".
var prosePayer = regexp.MustCompile(
	`(?i)^[a-z -]*?\b(?:from|by) +(\+?[0-9*]{4,20}) *-? *(.*?) *(?:\bAcc\.(.*))?$`)

// bankChannel finds the words that a bank adds behind the account.
var bankChannel = regexp.MustCompile(`(?i)\s+via \S+ by .*$`)

// fromProse gives the other party and what it typed, as the details say it; both empty where they do not.
func fromProse(details string) (from Party, account string) {
	m := prosePayer.FindStringSubmatch(details)
	if m == nil {
		return Party{}, ""
	}
	return Party{Number: m[1], Name: strings.Join(strings.Fields(m[2]), " ")},
		strings.TrimSpace(bankChannel.ReplaceAllString(m[3], ""))
}

// How numbers stand in the provider's words.
var (
	numberShape   = regexp.MustCompile(`\b[A-Z0-9]{10}\b`)
	lettersBehind = regexp.MustCompile(`^REVERSAL OF ([A-Z]{10})\b`)
	linkedShape   = regexp.MustCompile(`^[A-Z0-9]{8,20}$`)
)

// decimals are the digits of a receipt number.
const decimals = "0123456789"

// namedInProse gives the number of the transaction that the provider's words name; "" when they name none. Other words
// can be as long as a number, so one without a digit is a number only right behind "Reversal of", and only when no word
// with both follows: a phone number has no letter.
func namedInProse(details string) string {
	said := strings.ToUpper(providersWords(details))
	for _, word := range numberShape.FindAllString(said, -1) {
		if strings.ContainsAny(word, decimals) && strings.Trim(word, decimals) != "" {
			return word
		}
	}
	if named := lettersBehind.FindStringSubmatch(said); named != nil {
		return named[1]
	}
	return ""
}

// linkedNumber reads the cell that names another transaction; "" for one that names none, such as "-" or "0".
func linkedNumber(cell, own string) string {
	number := strings.ToUpper(cell)
	if number == own || !linkedShape.MatchString(number) || strings.Trim(number, decimals) == "" {
		return ""
	}
	return number
}

// Names gives the transactions that a reversal is about: the one in its details and the one that its column links. Two
// of them contradict each other. It is empty for any other movement, and when the provider names none.
func (l StatementLine) Names() (numbers []string) {
	if l.Kind != LineReversal {
		return nil
	}
	if said := namedInProse(l.Details); said != "" {
		numbers = append(numbers, said)
	}
	if l.Linked != "" && (len(numbers) == 0 || numbers[0] != l.Linked) {
		numbers = append(numbers, l.Linked)
	}
	return numbers
}
