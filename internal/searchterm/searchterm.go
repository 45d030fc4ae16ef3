// Package searchterm reads what people type into a search, and says how it is looked up in tables of terms. A term
// compares byte by byte, so that a prefix is a range of an index, which the planner may use below a row-level security
// policy (docs/rules/engine.md#searches-under-row-security).
package searchterm

import (
	"cmp"
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

// looked bounds how many terms a search reads that begin with its longest word. More of them begin with two letters or
// a few digits at most, and then the first ones have enough rows in which the other words are, too.
const looked = 5000

// rowsSQL is the search in {schema}.terms. The longest word leads, because the fewest terms begin with it; each row of
// its ranges must have a term for each of the other words. The words are arguments, none is part of the text.
const rowsSQL = `
select found.{key} from unnest(@from::text[], @to::text[]) w (low, high)
cross join lateral (
	select l.{key} from (
		select t.{key}, t.term from {schema}.terms t
		where t.org_id = @org and t.term >= w.low and t.term < w.high order by t.term, t.{key} limit @looked
	) l
	where not exists (
		select from unnest(@more_from::text[], @more_to::text[], @or_from::text[], @or_to::text[])
			o (low, high, or_low, or_high)
		where not exists (
			select from {schema}.terms u where u.{key} = l.{key}
				and (u.term >= o.low and u.term < o.high or u.term >= o.or_low and u.term < o.or_high)))
	order by l.term, l.{key} limit @rows
) found`

// Word is a word of a search.
type Word struct {
	Text string
	Or   string // another way to write it, "" = there is none
}

// RowsSQL is the statement that finds rows in {schema}.terms by words, each of which must begin a term of the row, in
// one of its ways; key is the column of the rows' ids. For each way to write the longest word up to max rows come, one
// for each of their terms that it begins. The arguments are @org, which the caller adds, and those that RowsSQL
// returns. There must be a word.
func RowsSQL(key string, words []Word, max int) (string, pgx.NamedArgs) {
	lead := 0
	for i, word := range words {
		if len(word.Text) > len(words[lead].Text) {
			lead = i
		}
	}
	from := []string{words[lead].Text}
	if or := words[lead].Or; or != "" {
		from = append(from, or)
	}
	more, or := []string{}, []string{}
	for i, word := range words {
		if i != lead {
			more, or = append(more, word.Text), append(or, cmp.Or(word.Or, word.Text))
		}
	}
	return strings.ReplaceAll(rowsSQL, "{key}", key), pgx.NamedArgs{
		"from": from, "to": ends(from), "more_from": more, "more_to": ends(more), "or_from": or, "or_to": ends(or),
		"looked": looked, "rows": max,
	}
}

// ends are the ends of the ranges of some prefixes.
func ends(prefixes []string) []string {
	out := make([]string, len(prefixes))
	for i, prefix := range prefixes {
		out[i] = End(prefix)
	}
	return out
}
