package money_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lastmile-isp/lastmile/internal/money"
)

func TestParse_ExactOrRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"1500": 150000, "0.5": 50, "-3.50": -350, "0": 0, "250000.00": 25000000,
		"92233720368547758.07": math.MaxInt64} {
		got, err := money.Parse(text, money.KES)
		if err != nil || got.Minor != want {
			t.Errorf("Parse(%q) = %v, %v; want %d minor units", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "1.", ".5", "1e3", "1.005", "1,000", "+1", "--1", "0x10", " 1", "1.5x", "1.x", "1/0", "1:0", "1.5.5",
		"99999999999999999999", "92233720368547758.08",
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

func TestCeilMajor_OfADebtGoesTowardsZero(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int64]int64{-1: 0, -99: 0, -100: -100, -101: -100, -199: -100} {
		if got := money.Of(minor, money.KES).CeilMajor(); got != money.Of(want, money.KES) {
			t.Errorf("%d rounds up to %v; want %d", minor, got, want)
		}
	}
	if got := money.Of(7, "UGX").CeilMajor(); got != money.Of(7, "UGX") {
		t.Errorf("an amount that has no decimals became %v", got)
	}
}

func TestSplit_TheFirstPartsGetTheRemainder(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int64][]int64{100: {34, 33, 0, 33}, -101: {-34, -34, 0, -33}, 99: {33, 33, 0, 33}} {
		for i, part := range money.Of(minor, money.KES).Split(1, 1, 0, 1) {
			if part != money.Of(want[i], money.KES) {
				t.Errorf("part %d of %d is %v; want %d", i, minor, part, want[i])
			}
		}
	}
}

func TestAmount_IsWrittenWithAllDecimalsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]money.Amount{
		"KES 1500.00": money.Major(1500, "KES"), "KES -0.05": money.Of(-5, "KES"), "KES 0.00": money.Of(0, "KES"),
		"UGX 1500": money.Major(1500, "UGX"), "UGX -7": money.Of(-7, "UGX"), "XXX 1.50": money.Of(150, "XXX"),
	} {
		if a.String() != want || a.Number() != json.Number(want[4:]) {
			t.Errorf("%q and number %q; want %q", a, a.Number(), want)
		}
	}
}

func TestKnown_AreTheCurrenciesThatAnOrganizationMayBillIn(t *testing.T) {
	t.Parallel()
	if !money.KES.Known() || !money.Currency("UGX").Known() {
		t.Error("shillings are not known")
	}
	if money.Currency("XXX").Known() || money.Currency("").Known() || money.Currency("kes").Known() {
		t.Error("a code that is no currency is known")
	}
}

func TestSumAndDifference_AreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := money.Of(rapid.Int64Range(-1e12, 1e12).Draw(t, "a"), money.KES)
		b := money.Of(rapid.Int64Range(-1e12, 1e12).Draw(t, "b"), money.KES)
		n := rapid.Int64Range(0, 20).Draw(t, "times")
		if a.Add(b).Sub(b) != a || a.Sub(b) != b.Sub(a).Neg() || a.Add(b) != b.Add(a) {
			t.Fatalf("%v and %v: sum %v, difference %v", a, b, a.Add(b), a.Sub(b))
		}
		sum := money.Of(0, money.KES)
		for range n {
			sum = sum.Add(a)
		}
		if a.Times(n) != sum || a.Times(-n) != sum.Neg() {
			t.Fatalf("%v taken %d times is %v; want %v", a, n, a.Times(n), sum)
		}
	})
}

func TestOrder_FollowsTheMinorUnits(t *testing.T) {
	t.Parallel()
	less, more := money.Of(-1, money.KES), money.Of(1, money.KES)
	for _, c := range []struct {
		a, b money.Amount
		want int
	}{{less, more, -1}, {more, less, 1}, {more, more, 0}} {
		if got := c.a.Cmp(c.b); got != c.want {
			t.Errorf("%v to %v is %d; want %d", c.a, c.b, got, c.want)
		}
	}
	if less.Min(more) != less || more.Min(less) != less || more.Min(more) != more {
		t.Errorf("the smaller one is %v, %v", less.Min(more), more.Min(less))
	}
	for _, c := range []struct {
		amount                   money.Amount
		positive, negative, zero bool
	}{{less, false, true, false}, {money.Of(0, money.KES), false, false, true}, {more, true, false, false}} {
		if c.amount.Positive() != c.positive || c.amount.Negative() != c.negative || c.amount.IsZero() != c.zero {
			t.Errorf("%v: positive %v, negative %v, zero %v", c.amount, c.amount.Positive(), c.amount.Negative(),
				c.amount.IsZero())
		}
	}
}

func TestNoMoney_FitsAnyCurrency(t *testing.T) {
	t.Parallel()
	none, some := money.Amount{}, money.Major(1, "KES")
	for name, got := range map[string]money.Amount{
		"some and none": some.Add(none), "none and some": none.Add(some), "some less none": some.Sub(none),
		"none less debt": none.Sub(some.Neg()),
	} {
		if got != some {
			t.Errorf("%s is %v; want %v", name, got, some)
		}
	}
	if got := none.Min(some); got != money.Of(0, "KES") {
		t.Errorf("the smaller of none and some is %v", got)
	}
	if none.Add(none) != none {
		t.Errorf("none and none is %v", none.Add(none))
	}
}

func TestAmounts_OfTwoCurrenciesNeverMeet(t *testing.T) {
	t.Parallel()
	a := money.Major(1, "KES")
	for name, mix := range map[string]func(){
		"add":                func() { a.Add(money.Major(1, "USD")) },
		"subtract":           func() { a.Sub(money.Major(1, "USD")) },
		"compare":            func() { a.Cmp(money.Major(1, "USD")) },
		"smaller":            func() { a.Min(money.Major(1, "USD")) },
		"no dollars":         func() { a.Add(money.Of(0, "USD")) },
		"to no dollars":      func() { money.Of(0, "USD").Add(a) },
		"without a currency": func() { a.Add(money.Of(1, "")) },
		"to one without any": func() { money.Of(1, "").Add(a) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: two currencies were mixed", name)
				}
			}()
			mix()
		}()
	}
}

// TestNumbers_AMillionDigitsAreRefusedAtOnce, and the refusal does not repeat them.
func TestNumbers_AMillionDigitsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"digits": strings.Repeat("9", 1_000_000), "zeros": strings.Repeat("0", 1_000_000) + "1",
		"negative": "-" + strings.Repeat("9", 1_000_000), "whole part": strings.Repeat("1", 1_000_000) + ".50",
	} {
		if _, err := money.Parse(text, money.KES); err == nil || len(err.Error()) > 100 {
			t.Errorf("%s was taken, or is repeated: %v", name, err != nil)
		}
	}
	if got, err := money.Parse("92233720368547758.07", money.KES); err != nil || got.Minor != 1<<63-1 {
		t.Errorf("the largest amount: %v, %v", got, err)
	}
}
