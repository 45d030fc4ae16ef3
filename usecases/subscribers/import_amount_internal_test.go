package subscriberscases

import (
	"math/big"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// amountOf reads an amount as an import does; ok is false when it is a fault.
func amountOf(text string, c money.Currency) (minor int64, ok bool) {
	var faults failure.Faults
	read := figureOf(text, c).In(c, colBalance, &faults)
	return read.Minor, len(faults) == 0
}

// TestFigureOf_ReadsAmountsAsSpreadsheetsWriteThem, and nothing that may mean two amounts.
func TestFigureOf_ReadsAmountsAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"": 0, "1500": 1500_00, "1500.5": 1500_50, "-3.50": -3_50, "0.05": 5,
		"1,500": 1500_00, "1,500.50": 1500_50, "12,345,678.90": 12_345_678_90, "-1,500": -1500_00,
		"1.500,50": 1500_50, "1.500.000": 1_500_000_00, "1.500.000,5": 1_500_000_50, "-1.500,50": -1500_50,
		"1234,50": 1234_50, "1234,5": 1234_50, "0,50": 50, "-0,5": -50,
		"1 500": 1500_00, "1 500.50": 1500_50, "1 500,50": 1500_50, "12 345 678": 12_345_678_00,
		"1\u00a0500.50": 1500_50, "1\u202f500,50": 1500_50, "1\u2009500": 1500_00,
		"KES 1,500": 1500_00, "kes1,500.50": 1500_50, "1,500 KES": 1500_00, "1500KES": 1500_00,
		"KES\u00a01\u00a0500,50": 1500_50, "-KES 1,500": -1500_00, "KES -1,500": -1500_00,
		"-1,500.00 Kes": -1500_00, "١٥٠٠": 1500_00, "1,500\n": 1500_00,
	} {
		if got, ok := amountOf(text, money.KES); !ok || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"1.500", "1234,500", "0,500", "0.500,00", "0 500", "1,50,000", "1,5000", "1,500,00", "1.500.00", "1,500,000,5",
		"1.500,500", "1 500,500", "1 50", "1  500", "15 00.50", "1,500 000", "1 500.000", "1,500.", ",50", "1,", ".5",
		"--5", "- 5", "5-", "+5", "(1,500)", "1e3", "KES", "-KES", "KES KES 5", "KES 5 KES", "-KES -5", "USD 5",
		"5 USD", "K 5", "1,500.50.1", "1'500", "1;500", "١٥x٠", "9,999,999,999,999,999,999", "=1,500",
	} {
		if got, ok := amountOf(text, money.KES); ok {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	if got, ok := amountOf("UGX 1,500", "UGX"); !ok || got != 1500 {
		t.Errorf("a currency without decimals: %d, %v", got, ok)
	}
	if got, ok := amountOf("1,50", "UGX"); ok {
		t.Errorf("decimals of a currency that has none: %d", got)
	}
}

// FuzzFigureOf: an amount that is read has all digits of the text and its sign, and one that every part of the program
// reads is the same here.
func FuzzFigureOf(f *testing.F) {
	for _, seed := range []string{
		"1500.50", "1,500.50", "1.500,50", "1 500,50", "KES -1,500", "-KES 1\u00a0500", "0,500", "1.500", "x", "--1",
		"KES ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := amountOf(text, money.KES)
		if plain, err := money.Parse(text, money.KES); err == nil && (!ok || plain.Minor != got) {
			t.Fatalf("%q is %d, %v; elsewhere %d", text, got, ok, plain.Minor)
		}
		if !ok || text == "" {
			return
		}
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, text)
		said, _ := new(big.Int).SetString(digits, 10)
		if said == nil {
			t.Fatalf("%q is read as %d", text, got)
		}
		if strings.Contains(text, "-") {
			said.Neg(said)
		}
		read, ten := big.NewInt(got), big.NewInt(10)
		for range money.KES.Decimals() {
			if said.Cmp(read) == 0 {
				return
			}
			said.Mul(said, ten)
		}
		if said.Cmp(read) != 0 {
			t.Fatalf("%q is read as %d", text, got)
		}
	})
}
