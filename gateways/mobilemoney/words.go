package mobilemoney

import "strings"

// ForbiddenWord gives the first word in an address for which the provider refuses it, "" when there is none. The
// provider looks for them anywhere in the address, in upper or lower case.
// Source: docs/facts/mobile-money.md#forbidden-words.
func ForbiddenWord(address string) string {
	address = strings.ToLower(address)
	for _, word := range []string{"m-pesa", "mpesa", "safaricom", "exec", "exe", "cmd", "sql", "query"} {
		if strings.Contains(address, word) {
			return word
		}
	}
	return ""
}
