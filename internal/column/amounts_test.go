package column_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// TestAmounts_ReadEachFormAlone that is one amount only.
func TestAmounts_ReadEachFormAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"": 0, "-": 0, "0": 0, "0.00": 0, "1500": 1500_00, "1500.5": 1500_50, "-3.50": -3_50, "0.05": 5,
		"1,500": 1500_00, "1,500.50": 1500_50, "12,345,678.90": 12_345_678_90, "-1,500": -1500_00,
		"1.500,50": 1500_50, "1.500.000": 1_500_000_00, "1.500.000,5": 1_500_000_50, "-1.500,50": -1500_50,
		"1234,50": 1234_50, "1234,5": 1234_50, "0,50": 50, "1 500": 1500_00, "1 500.50": 1500_50, "1 500,50": 1500_50,
		"1\u00a0500.50": 1500_50, "1\u202f500,50": 1500_50, "\u22121500": -1500_00, "\u200e1500\ufeff": 1500_00,
		"KES 1,000": 1000_00, "kes1,500.50": 1500_50, "1,500 KES": 1500_00, "Ksh1000/=": 1000_00, "Kshs. 500": 500_00,
		"1000/-": 1000_00, "KSh 1,000/=": 1000_00, "-KES 1,500": -1500_00, "KES -1,500": -1500_00,
		"(500.00)": -500_00, "500.00-": -500_00, "(KES 500)": -500_00,
		"KES (500)": -500_00, "Shs 20": 20_00, "- 5": -5_00, "١٥٠٠": 1500_00,
	} {
		if got, err := column.NewAmounts(money.KES).Read(text); err != nil || got.Minor != want ||
			got.Currency != money.KES {
			t.Errorf("%q is %s, %v; want %d", text, got, err, want)
		}
	}
	for _, c := range []struct {
		currency money.Currency
		text     string
		want     int64
	}{{"UGX", "USh 1,500", 1500}, {"USD", "$1,500.50", 1500_50}, {"USD", "US$ 2", 2_00}, {"EUR", "2,50 €", 2_50}} {
		if got, err := column.NewAmounts(c.currency).Read(c.text); err != nil || got.Minor != c.want {
			t.Errorf("%q is %s, %v; want %d", c.text, got, err, c.want)
		}
	}
}

// TestAmounts_RefuseWhatIsNoAmount, each with what is wrong with it.
func TestAmounts_RefuseWhatIsNoAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"x": column.ErrNoAmount, "1e3": column.ErrNoAmount, "1,50,000": column.ErrNoAmount,
		"1,500,00": column.ErrNoAmount,
		"1.500.00": column.ErrNoAmount, "0 500": column.ErrNoAmount,
		"1 50": column.ErrNoAmount, "1,500.": column.ErrNoAmount,
		".5": column.ErrNoAmount, "--5": column.ErrNoAmount, "(-5)": column.ErrNoAmount, "-5-": column.ErrNoAmount,
		"(5": column.ErrNoAmount, "5)": column.ErrNoAmount, "+5": column.ErrNoAmount, "KES": column.ErrNoAmount,
		"()": column.ErrNoAmount, "1,234.505": column.ErrNoAmount, "0.005": column.ErrNoAmount,
		"1'500": column.ErrNoAmount,
		"=1":    column.ErrNoAmount, "١٥٠x": column.ErrNoAmount, "1/=0": column.ErrNoAmount,
		"5 CR of 6":                 column.ErrNoAmount,
		"9,999,999,999,999,999,999": column.ErrNoAmount, strings.Repeat("9", 1<<20): column.ErrNoAmount,
		"KES KES 5": column.ErrOtherCurrency, "USD 5": column.ErrOtherCurrency, "$5": column.ErrOtherCurrency,
		"5 USD": column.ErrOtherCurrency, "TSh 5": column.ErrOtherCurrency, "5 CR": column.ErrOtherCurrency,
		"1.500": column.ErrUnclearAmount, "KES 1.500": column.ErrUnclearAmount,
	} {
		if got, err := column.NewAmounts(money.KES).Read(text); !errors.Is(err, want) || got.Minor != 0 {
			t.Errorf("%.40q is %s, %v; want %v", text, got, err, want)
		}
	}
	if got, err := column.NewAmounts("UGX").Read("1,50"); err == nil {
		t.Errorf("decimals of a currency that has none: %s", got)
	}
}

// TestAmounts_OtherCellsDecideALoneMark before three digits; where they contradict each other nothing is guessed.
func TestAmounts_OtherCellsDecideALoneMark(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cells      []string
		comma, dot int64 // of 1,500 and of 1.500; 0 = unclear
	}{
		"none decides":          {[]string{"12", "x"}, 1500_00, 0},
		"decimals behind dots":  {[]string{"12.50"}, 1500_00, 0},
		"groups of commas":      {[]string{"1,234,567"}, 1500_00, 0},
		"decimals behind comma": {[]string{"12,50"}, 0, 1500_00},
		"groups of dots":        {[]string{"1.234.567"}, 0, 1500_00},
		"both":                  {[]string{"12,50", "1,234.50"}, 0, 0},
	} {
		a := column.NewAmounts(money.KES)
		for _, cell := range c.cells {
			a.Add(cell)
		}
		for text, want := range map[string]int64{"1,500": c.comma, "1.500": c.dot} {
			got, err := a.Read(text)
			if want == 0 && !errors.Is(err, column.ErrUnclearAmount) || got.Minor != want {
				t.Errorf("%s: %s is %s, %v; want %d", name, text, got, err, want)
			}
		}
		if got, err := a.Read("2.345,50"); err != nil || got.Minor != 2345_50 {
			t.Errorf("%s: an amount that is clear alone is %s, %v", name, got, err)
		}
	}
}

// FuzzAmounts: an amount that is read has all digits of its text, and what money.Parse reads is the same here.
func FuzzAmounts(f *testing.F) {
	for _, seed := range []string{
		"1500.50", "1,500.50", "1.500,50", "1 500,50", "KES -1,500",
		"(Ksh 1,000/=)", "0,500", "1.500", "5-", "x", "--1",
	} {
		f.Add(seed, "12,50")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		a := column.NewAmounts(money.KES)
		a.Add(text)
		a.Add(other)
		got, err := a.Read(text)
		plain, parsed := money.Parse(text, money.KES)
		if parsed == nil && len(text) <= column.MaxLength && (err != nil || got != plain) {
			t.Fatalf("%q is %s, %v; elsewhere %s", text, got, err, plain)
		}
		if err != nil || got.Minor == 0 {
			return
		}
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, text)
		said, _ := new(big.Int).SetString(digits, 10)
		read := new(big.Int).Abs(big.NewInt(got.Minor))
		for range money.KES.Decimals() + 1 {
			if said != nil && said.Cmp(read) == 0 {
				return
			}
			said.Mul(said, big.NewInt(10))
		}
		t.Fatalf("%q is read as %s", text, got)
	})
}
