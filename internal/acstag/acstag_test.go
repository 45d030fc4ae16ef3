package acstag_test

import (
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/acstag"
)

// TestInScript_IsTheServersForm: the forms are those that release 1.2.16 writes.
func TestInScript_IsTheServersForm(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"org:acme": "org0x3Aacme", "sub:jane.doe@isp": "sub0x3Ajane0x2Edoe0x40isp", "vip": "vip",
		"é ~": "0xC30xA90x200x7E", "a0xFF": "a00x78FF", "plan:50x50": "plan0x3A500x7850", "100x80": "1000x7880",
		"0x": "0x", "0xF": "0xF", "0xab": "0xab",
		"0x0x41": "0x00x7841", "0x4.5": "0x40x2E5", "@x41": "0x400x7841", "@x4.": "0x40x40x2E", "0x3A": "00x783A",
	} {
		if got := acstag.InScript(tag); got != want {
			t.Errorf("%s is %s, want %s", tag, got, want)
		}
	}
}

// TestRead_IsTheServersWayBack: it takes two digits or capitals behind 0x for a byte, and ends at what is none.
func TestRead_IsTheServersWayBack(t *testing.T) {
	t.Parallel()
	for form, want := range map[string]string{
		"org0x3Aacme": "org:acme", "plan0x3A50x50": "plan:5P", "a00x78FF": "a0xFF", "0xC30xA9": "é", "0xab": "0xab",
	} {
		if got, ok := acstag.Read(form); !ok || got != want {
			t.Errorf("%s is %s (%v), want %s", form, got, ok, want)
		}
	}
	for _, form := range []string{
		"a0xFF", "sub0x3Aa0xFF", "100x80", "0xZZ", "0xF0x2E", "a0xC3", "100%", "0x40x2E5", "0x40xA0x2E", "0x00x7841",
	} {
		if got, ok := acstag.Read(form); ok {
			t.Errorf("%s is %s", form, got)
		}
	}
}

// TestName_IsKeptByTheServer: of all names of some signs, the others unchanged, and no two are one.
func TestName_IsKeptByTheServer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	changed := 0
	var names func(begin string, more int)
	names = func(begin string, more int) {
		name := acstag.Name(begin)
		if other, is := seen[name]; is || !acstag.Kept("lastmile_was:"+name) {
			t.Errorf("%s is %s, as %q", begin, name, other)
		}
		seen[name] = begin
		if name != begin {
			changed++
		}
		if acstag.Kept(begin) != (name == begin) || acstag.Name(name) != name {
			t.Errorf("%s is %s, and then %s", begin, name, acstag.Name(name))
		}
		for _, sign := range "0x4Fa.@-" {
			if more > 0 {
				names(begin+string(sign), more-1)
			}
		}
	}
	names("", 5)
	if changed == 0 {
		t.Error("no name is changed")
	}
	for name, want := range map[string]string{
		"jane@x5.net": "jane@:x5.net", "a0xFF": "a0xFF", "50x50": "50x50", "10x2.5": "10:x2.5",
		"0x0x41-max": "0:x0:x41-ma:x",
	} {
		if got := acstag.Name(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if acstag.Kept(strings.Repeat("0", 2) + "x4.") {
		t.Error("a tag that the server reads otherwise is kept")
	}
}

// TestUsername_NoTwoAreOneTag of all names of some signs, and the server keeps each of them.
func TestUsername_NoTwoAreOneTag(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	var names func(begin string, more int)
	names = func(begin string, more int) {
		tag := acstag.Username(begin)
		if other, is := seen[tag]; is || !acstag.Kept("lastmile_was:"+tag) || strings.Contains(tag, "*") {
			t.Errorf("%q is %q, as %q", begin, tag, other)
		}
		seen[tag] = begin
		for _, sign := range ":xs*04 " {
			if more > 0 {
				names(begin+string(sign), more-1)
			}
		}
	}
	names("", 5)
	for name, want := range map[string]string{
		"jane doe": "jane doe", "a:b": "a:b", "AA:BB:CC:DD:EE:FF": "AA:BB:CC:DD:EE:FF", "10x2.5": "10:x2.5",
		"10:x2.5": "10::x2.5", "a*": "a:s",
	} {
		if got := acstag.Username(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
