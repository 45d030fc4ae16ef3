package inputtext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/internal/inputtext"
)

// TestCode_SignsThatNobodySeesAreRemovedAndLookAlikesAreFolded: what is pasted compares like what is typed.
func TestCode_SignsThatNobodySeesAreRemovedAndLookAlikesAreFolded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\u202a+254711000100\u202c": "+254711000100", "\ufeffACME-1": "ACME-1", "10\u200b00\u200c16": "100016",
		"\u00a0a@b.co\u00a0": "a@b.co", "INV\u20110042": "INV-0042", "INV\u201342": "INV-42", "\u22121,500": "-1,500",
		"１２３４": "1234", "٠٧١٢": "0712", "۰۷۱۲": "0712", "１\u00a0５００．５０": "1 500.50", "𝟗": "9", "a\tb": "a\tb",
		" Otieno\u2009K ": "Otieno K", "": "", "\u2066\u2069": "",
	} {
		if got := inputtext.Code(text); got != want {
			t.Errorf("%+q is %+q; want %+q", text, got, want)
		}
	}
}

// TestText_NamesKeepWhatTheyAreMadeOf: letters and joiners of all scripts, dashes and quotes of typesetters, and line
// breaks stay as they are.
func TestText_NamesKeepWhatTheyAreMadeOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\u200eJean\u2011Paul\u00a0 O’Hara ": "Jean-Paul  O’Hara", "می\u200cخواهم": "می\u200cخواهم",
		"Ñandú – १२":            "Ñandú – १२",
		"two\nlines\u2028three": "two\nlines three", "\u200d": "", "co\u00adop": "coop",
	} {
		if got := inputtext.Text(text); got != want {
			t.Errorf("%+q is %+q; want %+q", text, got, want)
		}
	}
}

// TestPhone_TheFormsThatPeopleTypeAreOneNumber.
func TestPhone_TheFormsThatPeopleTypeAreOneNumber(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0711 000 100", "711000100", "254711000100", "+254 711-000100", "+254 (0) 711 000 100", "+254 0711000100",
		"254 (0)711000100", "00254711000100", "00254 0711 000 100", "\u202a+254\u00a0711\u2011000\u2011100\u202c",
		"+254.711.000.100", "\ufeff0711000100", "０７１１０００１００", "(0711) 000100", "0711/000100",
	} {
		if got := inputtext.Phone(text); got != "+254711000100" || inputtext.PhoneFault(got) != "" {
			t.Errorf("%+q is %q: %q", text, got, inputtext.PhoneFault(got))
		}
	}
}

// TestPhone_ForeignNumbersKeepTheirForm, also those that begin with 0 behind the code, as Italian ones do.
func TestPhone_ForeignNumbersKeepTheirForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+256 712 345678": "+256712345678", "00255712345678": "+255712345678", "+44 (0)7911 123456": "+447911123456",
		"+39 06 1234567": "+39061234567", "+1 (202) 555-0100": "+12025550100", "+92 300 1234567": "+923001234567",
		"+55 41 91234-5678": "+5541912345678", "+49 0171 1234567": "+491711234567",
		"+225 01 23 45 67 89": "+2250123456789",
		"+86 131 2345 6789":   "+8613123456789", "+211 91 234 5678": "+211912345678",
		"+252 61 2345678": "+252612345678",
		"+254 20 2123456": "+254202123456", "020 2123456": "+254202123456",
	} {
		if got := inputtext.Phone(text); got != want || inputtext.PhoneFault(got) != "" {
			t.Errorf("%q is %q: %q; want %q", text, got, inputtext.PhoneFault(got), want)
		}
	}
}

// TestPhoneFault_SaysHowManyDigitsAreMissing: a number that no phone has is refused with what to look for.
func TestPhoneFault_SaysHowManyDigitsAreMissing(t *testing.T) {
	t.Parallel()
	const form = "must be a phone number with its country"
	for text, want := range map[string]string{
		"+25471100010": "must have 9 digits after +254", "+2547110001000": "must have 9 digits after +254",
		"071100010": "must have 9 digits after +254", "25471100010": "must have 9 digits after +254",
		"+25671234567": "must have 9 digits after +256", "+1 202 555 010": "must have 10 digits after +1",
		"+20 1234567": "must have 8, 9 or 10 digits after +20", "+4900171123456": "must have no 0 after +49",
		"12": form, "": form, "my phone": form, "+999123456789": form, "+0711000100": form, "0": form, "+": form,
		"+254": form, "256712345678": form, "0711000100 0722000100": form, "+254711000100x": form,
	} {
		got := inputtext.PhoneFault(inputtext.Phone(text))
		if got == "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}

// FuzzPhone: what Phone gives it gives again, and one that has no fault is E.164. Neither cleaner leaves more behind
// than it was given, nor anything to clean.
func FuzzPhone(f *testing.F) {
	f.Add("+254 (0) 711\u2011000100")
	f.Fuzz(func(t *testing.T, text string) {
		number := inputtext.Phone(text)
		if inputtext.PhoneFault(number) == "" {
			if again := inputtext.Phone(number); again != number || len(number) > 16 || number[0] != '+' {
				t.Errorf("%q is %q, then %q", text, number, again)
			}
		}
		for _, clean := range []func(string) string{inputtext.Text, inputtext.Code} {
			if once := clean(text); clean(once) != once || utf8.RuneCountInString(once) > utf8.RuneCountInString(text) {
				t.Errorf("%+q is %+q, then %+q", text, once, clean(once))
			}
		}
	})
}

// TestCode_DigitsOfEveryScriptHaveTheirValue: the table of digits of the Unicode version is made of rows of ten.
func TestCode_DigitsOfEveryScriptHaveTheirValue(t *testing.T) {
	t.Parallel()
	for _, row := range unicode.Nd.R32 {
		if row.Stride != 1 || (row.Hi-row.Lo+1)%10 != 0 {
			t.Errorf("digits %x to %x are no rows of ten", row.Lo, row.Hi)
		}
	}
	for _, row := range unicode.Nd.R16 {
		if row.Stride != 1 || (row.Hi-row.Lo+1)%10 != 0 {
			t.Errorf("digits %x to %x are no rows of ten", row.Lo, row.Hi)
		}
	}
}
