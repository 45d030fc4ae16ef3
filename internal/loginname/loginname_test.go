package loginname_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/loginname"
)

// TestUsernames_AsTheWorldHasThemAreAccepted, and what nobody can see in a name is refused with what is wrong.
func TestUsernames_AsTheWorldHasThemAreAccepted(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"jane", "_guest1", "casa 12", "maría:2", "señor+1", "b/12", "flat#4", `ISP\jane`, "jane@isp.example",
		"AA:BB:CC:DD:EE:FF", "aabb.ccdd.eeff", "=sum", "-x", "Ünal", "0711000001", "احمد", "x",
		strings.Repeat("x", 64), strings.Repeat("ñ", 50),
	} {
		if fault := loginname.Fault(name); fault != "" {
			t.Errorf("%q: %s", name, fault)
		}
	}
	for name, want := range map[string]string{
		"": "is required", " jane": "begin or end", "jane ": "begin or end", "ja\tne": "cannot be seen",
		"ja\nne": "cannot be seen", "ja\x00ne": "cannot be seen", "ja\u200bne": "cannot be seen",
		"ja\u00a0ne": "cannot be seen", "\ufeffjane": "cannot be seen", "ja\u202ene": "cannot be seen",
		"ja\xffne": "cannot be seen", "ja\ufe0fne": "cannot be seen", "ja\u3164ne": "cannot be seen",
		"ja\u2028ne": "cannot be seen", strings.Repeat("x", 65): "at most 64", strings.Repeat("ñ", 51): "at most 64",
	} {
		if got := loginname.Fault(name); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestUsernames_ThatLookAlikeAreEqual, and those that routers tell apart are not.
func TestUsernames_ThatLookAlikeAreEqual(t *testing.T) {
	t.Parallel()
	for _, equal := range [][]string{
		{"AA:BB:CC:DD:EE:0F", "aa-bb-cc-dd-ee-0f", "aabb.ccdd.ee0f", "AABBCCDDEE0F", "aabbccddee0f"},
		{"señor", "sen\u0303or"}, {"casa 12", "casa  12"}, {"ﬁn", "fin"}, {"ＡＢ", "AB"},
	} {
		for _, name := range equal {
			if got := loginname.Fold(name); got != loginname.Fold(equal[0]) || got != loginname.Fold(got) {
				t.Errorf("%q is %q, not as %q", name, got, equal[0])
			}
		}
	}
	seen := map[string]string{}
	for _, name := range []string{
		"Amina", "amina", "a.mina", "a-mina", "a:mina", "casa12", "casa 12", "senor", "señor", "jane@isp", "jane",
		`ISP\jane`, "AABBCCDDEE0", "AABBCCDDEE0F0", "GABBCCDDEE0F",
	} {
		folded := loginname.Fold(name)
		if other, is := seen[folded]; is {
			t.Errorf("%q and %q are one", name, other)
		}
		seen[folded] = name
	}
}

// TestWithoutRealm_LeavesTheUser of both notations.
func TestWithoutRealm_LeavesTheUser(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		`ISP\jane`: "jane", "jane@isp.example": "jane", "jane": "jane", "a@b@isp": "a@b", "@isp": "@isp",
		`ISP\`:          `ISP\`,
		`ISP\jane@home`: "jane@home",
	} {
		if got := loginname.WithoutRealm(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestIsFolded_AllocatesNothing: each sign-in asks it.
func TestIsFolded_AllocatesNothing(t *testing.T) { //nolint:paralleltest // counts allocations
	name := []byte("jane.doe@isp")
	if n := testing.AllocsPerRun(100, func() { loginname.IsFolded(name) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
