package searchterm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWords_AreLowerCaseLettersAndDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                       {},
		" - /%'":                 {},
		"Mary  NJOROGE-Otieno":   {"mary", "njoroge", "otieno"},
		"ACME-0042":              {"acme", "0042"},
		"Ünal Çelik":             {"ünal", "çelik"},
		"o'brien%":               {"o", "brien"},
		"مريم 42":                {"مريم", "42"},
		"a\u0301b":               {"a\u0301b"}, // a letter and its mark are one word
		"<script>alert</script>": {"script", "alert", "script"},
	} {
		if diff := cmp.Diff(want, append([]string{}, Words(text)...)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestTyped_OnlyTheFirstFourWordsCountAndLongOnesAreCut(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, Typed("a b c d e f")); diff != "" {
		t.Error(diff)
	}
	long := Typed(strings.Repeat("é", maxBytes))
	if len(long) != 1 || len(long[0]) > maxBytes || !utf8.ValidString(long[0]) {
		t.Errorf("a long word: %q", long)
	}
}

func TestCut_SplitsNoCharacter(t *testing.T) {
	t.Parallel()
	for _, term := range []string{
		"", "short", strings.Repeat("x", maxBytes), strings.Repeat("x", maxBytes+1),
		"x" + strings.Repeat("é", maxBytes), strings.Repeat("😀", maxBytes),
	} {
		got := Cut(term)
		if len(got) > maxBytes || !utf8.ValidString(got) || !strings.HasPrefix(term, got) ||
			len(term) <= maxBytes && got != term || len(term) > maxBytes && len(got) <= maxBytes-utf8.UTFMax {
			t.Errorf("%q is cut to %q", term, got)
		}
	}
}

func TestEnd_BoundsTheTextsThatBeginWithAPrefix(t *testing.T) {
	t.Parallel()
	for _, same := range []string{"ma", "mary", "maz", "maÿ", "ma😀"} {
		if same < "ma" || same >= End("ma") {
			t.Errorf("%q lies outside", same)
		}
	}
	for _, other := range []string{"m", "mb", "na", "lz"} {
		if other >= "ma" && other < End("ma") {
			t.Errorf("%q lies within", other)
		}
	}
}

func TestDigits_OfANumberInAnyNotationAndOfNothingElse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0712 345-678": "0712345678", "+254 (712) 345.678": "254712345678", "42": "42", "": "", "12a": "",
		"10.0.3.9": "", "10.0.3": "1003", "2001:db8::1": "", "١٢": "",
	} {
		if got := Digits(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestMAC_InAnyNotationFromFourDigitsOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"aabb": "AA:BB", "aab": "", "AA:BB:C": "AA:BB:C", "aabb.ccdd.eeff": "AA:BB:CC:DD:EE:FF",
		"aa-bb-cc-dd-ee-ff": "AA:BB:CC:DD:EE:FF", "aabbccddeeff0": "", "aabbg": "", "": "", "é12345": "",
	} {
		if got := MAC(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if len(MAC("aabbccddeeff")) != WholeMAC {
		t.Errorf("a whole address is not %d long", WholeMAC)
	}
}

func TestAddress_WithoutZonesAndInItsShortForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.3.9": "10.0.3.9", "::ffff:10.0.3.9": "10.0.3.9", "2001:DB8::1": "2001:db8::1",
		"fe80::1%eth0": "invalid IP", "10.0.3": "invalid IP", "10.0.3.0/24": "invalid IP", "": "invalid IP",
	} {
		if got := Address(text).String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestBegin_EachWordBeginsSomeTerm(t *testing.T) {
	t.Parallel()
	terms := []string{"mary", "njoroge"}
	for _, c := range []struct {
		words        []string
		begin, whole bool
	}{
		{nil, false, false},
		{[]string{"mary"}, true, true},
		{[]string{"nj", "ma"}, true, false},
		{[]string{"njoroge", "mary"}, true, true},
		{[]string{"mary", "k"}, false, false},
		{[]string{"ary"}, false, false},
	} {
		if begin, whole := Begin(c.words, terms); begin != c.begin || whole != c.whole {
			t.Errorf("%q: got %v, %v", c.words, begin, whole)
		}
	}
	if begin, _ := Begin([]string{"a"}, nil); begin {
		t.Error("nothing begins with a word")
	}
}

func TestRowsSQL_TheLongestWordLeadsAndNoWordIsPartOfTheText(t *testing.T) {
	t.Parallel()
	sql, args := RowsSQL("subscriber_id", []Word{
		{Text: "ma"}, {Text: "0712", Or: ":712"}, {Text: "k"}, {Text: "07", Or: ":7"},
	}, 20)
	for name, want := range map[string]any{
		"from": []string{"0712", ":712"}, "to": []string{End("0712"), End(":712")},
		"more_from": []string{"ma", "k", "07"}, "more_to": []string{End("ma"), End("k"), End("07")},
		"or_from": []string{"ma", "k", ":7"}, "or_to": []string{End("ma"), End("k"), End(":7")},
		"rows": 20, "looked": looked,
	} {
		if diff := cmp.Diff(want, args[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if strings.Contains(sql, "0712") || strings.Contains(sql, "{key}") || !strings.Contains(sql, "subscriber_id") {
		t.Error(sql)
	}
	if _, args := RowsSQL("id", []Word{{Text: "one"}}, 5); len(args["more_from"].([]string)) != 0 {
		t.Errorf("of one word: %v", args)
	}
}
