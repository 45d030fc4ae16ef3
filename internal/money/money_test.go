package money_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestParse_ExactOrRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1500": 150000, "0.5": 50, "-3.50": -350, "0": 0, "250000.00": 25000000} {
		got, err := money.Parse(text, money.KES)
		if err != nil || got.Minor != want {
			t.Errorf("Parse(%q) = %v, %v; want %d minor units", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "1.", ".5", "1e3", "1.005", "1,000", "+1", "--1", "0x10", " 1", "99999999999999999999",
	} {
		if got, err := money.Parse(text, money.KES); err == nil {
			t.Errorf("Parse(%q) = %v; want an error", text, got)
		}
	}
	if _, err := money.Parse("1.5", "UGX"); err == nil {
		t.Error("a currency without decimals took one")
	}
}

func TestDecimal_ReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := money.Of(rapid.Int64Range(-1e15, 1e15).Draw(t, "minor"),
			rapid.SampledFrom([]money.Currency{"KES", "UGX"}).Draw(t, "currency"))
		b, err := money.Parse(a.Decimal(), a.Currency)
		if err != nil || a != b {
			t.Fatalf("%v became %q and %v (%v)", a, a.Decimal(), b, err)
		}
	})
}

func TestSplit_PartsSumToTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := money.Of(rapid.Int64Range(-1e12, 1e12).Draw(t, "minor"), money.KES)
		weights := append(rapid.SliceOfN(rapid.Int64Range(0, 1000), 0, 10).Draw(t, "weights"),
			rapid.Int64Range(1, 1000).Draw(t, "one more"))
		sum := money.Of(0, money.KES)
		for i, part := range a.Split(weights...) {
			if weights[i] == 0 && !part.IsZero() {
				t.Fatalf("a weight of nothing got %v", part)
			}
			sum = sum.Add(part)
		}
		if sum != a {
			t.Fatalf("parts of %v sum to %v", a, sum)
		}
	})
}

func TestRounding_HalfAwayFromZeroAndUpToWholeUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ minor, num, den, want int64 }{
		{5, 1, 2, 3}, {-5, 1, 2, -3}, {4, 1, 3, 1}, {150000, 16, 116, 20690},
	} {
		if got := money.Of(c.minor, money.KES).MulDivRounded(c.num, c.den).Minor; got != c.want {
			t.Errorf("%d × %d / %d = %d; want %d", c.minor, c.num, c.den, got, c.want)
		}
	}
	for minor, want := range map[int64]int64{100: 100, 101: 200, 199: 200, 1: 100, 0: 0} {
		if got := money.Of(minor, money.KES).CeilMajor().Minor; got != want {
			t.Errorf("%d rounds up to %d; want %d", minor, got, want)
		}
	}
}

func TestAdd_CurrenciesDoNotMix(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("shillings and dollars were added")
		}
	}()
	money.Major(1, "KES").Add(money.Major(1, "USD"))
}
