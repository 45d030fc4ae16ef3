// Package searchterm reads what people type into a search, and says how it is looked up in tables of terms. A term
// compares byte by byte, so that a prefix is a range of an index, which the planner may use below a row-level security
// policy (docs/rules/engine.md#searches-under-row-security).
package searchterm

import (
	"net/netip"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// maxBytes is the longest term in bytes, in an index and in a search. A longer one is cut.
const maxBytes = 100

// maxWords is how many words of a search count; the ones after them are ignored.
const maxWords = 4

// Match says what of a row a search has found.
type Match struct {
	By    string // "name", "phone", "account" and so on
	Whole bool   // all of it was typed, and not its beginning or end alone
}

// Words splits a text into lower-case words of letters and digits. All other characters, such as dashes, separate
// words.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// Typed are the words of a search that count.
func Typed(text string) []string {
	found := Words(text)
	found = found[:min(len(found), maxWords)]
	for i := range found {
		found[i] = Cut(found[i])
	}
	return found
}

// Cut shortens a term to what an index has of it, without splitting a character.
func Cut(term string) string {
	if len(term) <= maxBytes {
		return term
	}
	return strings.ToValidUTF8(term[:maxBytes], "")
}

// End is an exclusive upper bound, in byte order, of the texts that begin with a prefix.
func End(prefix string) string { return prefix + "\U0010FFFF" }

// What people write between the digits of a number, and of a MAC address.
var (
	betweenDigits = strings.NewReplacer(" ", "", "-", "", "+", "", "(", "", ")", "", ".", "", "/", "")
	betweenPairs  = strings.NewReplacer(":", "", "-", "", ".", "", " ", "")
)

// Digits gives the digits of a text that has only digits and what people write between them, "" for any other text, and
// for an IP address.
func Digits(text string) string {
	if Address(text).IsValid() {
		return ""
	}
	digits := betweenDigits.Replace(text)
	if strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

// minMAC is the smallest number of hexadecimal digits that are taken for the beginning of a MAC address.
const minMAC = 4

// MAC gives the beginning of a MAC address, or all of it, in the form in which tables have it: "AA:BB:CC". It is "" for
// a text that cannot be one.
func MAC(text string) string {
	text = strings.ToUpper(betweenPairs.Replace(text))
	if len(text) < minMAC || len(text) > 12 || strings.Trim(text, "0123456789ABCDEF") != "" {
		return ""
	}
	var b strings.Builder
	for i, r := range text {
		if i > 0 && i%2 == 0 {
			b.WriteByte(':')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// WholeMAC is the length of a whole MAC address in the form of MAC.
const WholeMAC = len("AA:BB:CC:DD:EE:FF")

// Address gives the address that a text is, the zero address for any other text.
func Address(text string) netip.Addr {
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" {
		return netip.Addr{}
	}
	return ip.Unmap()
}

// Begin reports whether each word begins one of the terms, and whether each is one of them. Without a word neither is
// so.
func Begin(words, terms []string) (begin, whole bool) {
	begin, whole = len(words) > 0, len(words) > 0
	for _, word := range words {
		some, same := false, false
		for _, term := range terms {
			some, same = some || strings.HasPrefix(term, word), same || term == word
		}
		begin, whole = begin && some, whole && same
	}
	return begin, whole
}

// looked bounds how many terms a search reads that begin with its longest word. More of them begin with two letters at
// most, and then the first ones have enough rows in which the other words are, too.
const looked = 5000

// rowsSQL is the search in {schema}.terms. The longest word leads, because the fewest terms begin with it; each row of
// its range must have terms for the other words. The words are arguments, none is part of the text.
const rowsSQL = `
select l.{key} from (
	select t.{key}, t.term from {schema}.terms t
	where t.org_id = @org and t.term >= @from and t.term < @to order by t.term, t.{key} limit @looked
) l
where not exists (
	select from unnest(@more_from::text[], @more_to::text[]) w (low, high) where not exists (
		select from {schema}.terms u where u.{key} = l.{key} and u.term >= w.low and u.term < w.high))
order by l.term, l.{key} limit @rows`

// RowsSQL is the statement that finds up to max rows in {schema}.terms by the words, each of which must begin a term of
// the row; key is the column of the rows' ids. The arguments are @org, which the caller adds, and those that it
// returns. A row comes once for each of its terms that the longest word begins. There must be a word.
func RowsSQL(key string, words []string, max int) (string, pgx.NamedArgs) {
	lead := 0
	for i, word := range words {
		if len(word) > len(words[lead]) {
			lead = i
		}
	}
	from, to := []string{}, []string{}
	for i, word := range words {
		if i != lead {
			from, to = append(from, word), append(to, End(word))
		}
	}
	return strings.ReplaceAll(rowsSQL, "{key}", key), pgx.NamedArgs{
		"from": words[lead], "to": End(words[lead]), "more_from": from, "more_to": to, "looked": looked, "rows": max,
	}
}
