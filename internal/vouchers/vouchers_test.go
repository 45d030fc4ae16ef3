package vouchers_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
)

func TestCodes_AreAsTypedByPeople(t *testing.T) {
	t.Parallel()
	c, org := vouchers.NewCodes([]byte("key")), id.New[id.Organization]()
	code := c.Make(id.New[id.VoucherBatch](), "Beach1", 1)[0]
	want, ok := c.ID(org, code)
	if !ok {
		t.Fatalf("%q is no code", code)
	}
	for _, typed := range []string{
		strings.ToLower(code), strings.ReplaceAll(code, "-", ""), " " + strings.ReplaceAll(code, "-", " ") + "\n",
		strings.ReplaceAll(code, "-", "\u2013"), strings.Replace(code, "Beach1", "8EACHl", 1),
		strings.ReplaceAll(strings.ReplaceAll(code, "2", "z"), "5", "s"),
	} {
		if got, ok := c.ID(org, typed); !ok || got != want {
			t.Errorf("%q is another voucher than %q", typed, code)
		}
	}
	for _, typed := range []string{
		"", code[:len(code)-1], code + code, code[:len(code)-1] + "D", code[:len(code)-1] + "é",
		strings.Repeat(" ", 70) + code,
	} {
		if got, ok := c.ID(org, typed); ok && got == want {
			t.Errorf("%q is taken for %q", typed, code)
		}
	}
}

func TestCodes_NeverMeetInTwoOrganizationsBatchesOrInstallations(t *testing.T) {
	t.Parallel()
	ours, theirs := vouchers.NewCodes([]byte("one")), vouchers.NewCodes([]byte("two"))
	a, b, batch := id.New[id.Organization](), id.New[id.Organization](), id.New[id.VoucherBatch]()
	code := ours.Make(batch, "", 1)[0]
	at := func(c vouchers.Codes, org id.Organization) id.Voucher {
		v, _ := c.ID(org, code)
		return v
	}
	if at(ours, a) == at(ours, b) || at(ours, a) == at(theirs, a) {
		t.Error("one code is the same voucher in two places")
	}
	if code == theirs.Make(batch, "", 1)[0] || code == ours.Make(id.New[id.VoucherBatch](), "", 1)[0] {
		t.Error("codes do not depend on key and batch")
	}
}

func TestCodes_AreManyDifferentAndTheSameAgain(t *testing.T) {
	t.Parallel()
	c, batch := vouchers.NewCodes([]byte("key")), id.New[id.VoucherBatch]()
	codes, seen, used := c.Make(batch, "x", 5_000), map[string]bool{}, map[rune]bool{}
	for _, code := range codes {
		seen[code] = true
		for _, r := range strings.ReplaceAll(strings.TrimPrefix(code, "x-"), "-", "") {
			used[r] = true
		}
	}
	if len(seen) != len(codes) || len(used) != 16 {
		t.Errorf("%d codes of %d characters", len(seen), len(used))
	}
	if again := c.Make(batch, "x", 5_000); again[4_999] != codes[4_999] {
		t.Error("a repeat makes other codes")
	}
}

// FuzzNormal checks that a normal form stays as it is.
func FuzzNormal(f *testing.F) {
	f.Add("beach-23ah-23ah-23ah")
	f.Fuzz(func(t *testing.T, typed string) {
		code, ok := vouchers.Normal(typed)
		if !ok {
			return
		}
		if again, ok := vouchers.Normal(code); !ok || again != code {
			t.Errorf("%q, then %q", code, again)
		}
	})
}
