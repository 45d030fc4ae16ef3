package router_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// bootstrap reads the script in testdata.
func bootstrap(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/bootstrap.rsc")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestScript_ABootstrapRunsOnAllReleasesAndTwice(t *testing.T) {
	t.Parallel()
	for _, version := range versions {
		k := newKit(t, version)
		before := k.Snapshot(true)
		out, err := k.Script(bootstrap(t))
		if err != nil || !strings.HasSuffix(out, "rule Platform-fw:tunnel\nBOOTSTRAP_VERSION=2 done\n") {
			t.Fatalf("%s: %v, %s", version, err, out)
		}
		first := k.Snapshot(false)
		out, faults := k.Paste(bootstrap(t))
		if len(faults) > 0 || !strings.HasSuffix(out, "done\n") {
			t.Fatalf("%s pasted: %v, %s", version, faults, out)
		}
		drop := func(s router.Snapshot) router.Snapshot { // the platform's rule is created again, with another id
			return s.Without(func(menu string, item router.Item) bool {
				return strings.HasPrefix(item["comment"], "Platform-fw:") && menu == "ip/firewall/filter"
			})
		}
		if diff := cmp.Diff(drop(first), drop(k.Snapshot(false))); diff != "" {
			t.Errorf("%s: a second run changed something: %s", version, diff)
		}
		foreign := before["ip/firewall/filter"]
		if rules := k.Snapshot(true)["ip/firewall/filter"]; rules[0]["action"] != "passthrough" ||
			rules[1]["comment"] != "Platform-fw:tunnel" || len(rules) != len(foreign)+1 {
			t.Errorf("%s: rules %v", version, rules)
		}
		group := k.only("user/group", "name", "platform-api")["policy"]
		if strings.Contains(group, "rest-api") == strings.HasPrefix(version, "6") {
			t.Errorf("%s: policy %s", version, group)
		}
		if k.only("interface/sstp-client", "name", "platform-tunnel")["running"] != "true" {
			t.Errorf("%s: no tunnel", version)
		}
	}
}

func TestScript_WhatItPrints(t *testing.T) {
	t.Parallel()
	k := newKit(t, "7.16")
	for text, want := range map[string]string{
		`:put ("a" . 1 . "b")`:                                                          "a1b",
		`:local x 5; :set x ($x * 2 + 1); :put $x`:                                      "11",
		`:put [:pick "6.49.10" 0 [:find "6.49.10" "."]]`:                                "6",
		`:put [:len {1;2;3}]`:                                                           "3",
		`:foreach i in={"a";"b"} do={ :put "<$i>" }`:                                    "<a>\n<b>",
		`:for i from=1 to=3 do={ :put $i }`:                                             "1\n2\n3",
		`:do { :error "x" } on-error={ :put "caught" }`:                                 "caught",
		`:do { [:parse ":nonsense"] } on-error={ :put "caught" }`:                       "caught",
		`:local f [:parse ":put hello"]; $f`:                                            "hello",
		`:if ("7" = 7) do={ :put yes } else={ :put no }`:                                "false",
		`:if ([:typeof [:find "abc" "x"]] = "nothing") do={ :put "none" }`:              "none",
		`:put [/interface get ether1 type]`:                                             "ether",
		`:put [:len [/interface ethernet find]]`:                                        "6",
		`/ip pool` + "\n" + `:put [:len [find where name~"^default"]]`:                  "1",
		`:put [/ip/pool/get [find name=default-dhcp] ranges]`:                           "192.168.88.10-192.168.88.254",
		`:put [/ip firewall filter print count-only where dynamic=no]`:                  "6",
		`:local id [/ip pool add name=x ranges=10.0.0.1]; :put [/ip pool get $id name]`: "x",
		`/system identity set name="a\"b\$c"; :put [/system identity get name]`:         `a"b$c`,
		`:global g 1; { :local g2 $g; :put $g2 }`:                                       "1",
		`/ip pool remove [find where name="nobody"]; :put ok`:                           "ok",
		`:put (1 < 2 && !(3 > 4))`:                                                      "true",
		`:local a {1;2}; :put ($a->1)`:                                                  "2",
		`:execute {:error "unseen"}; :put ok`:                                           "ok",
		`:local i 0; :do { :set i ($i + 1) } while=($i < 4); :put $i`:                   "4",
		`:put [:len [/ip firewall filter find where chain=input and action!=drop]]`:     "2",
	} {
		out, err := k.Script(text)
		if err != nil || strings.TrimSpace(out) != want {
			t.Errorf("%s: %q, %v", text, out, err)
		}
	}
}

func TestScript_FaultsOfTheTextStopItBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	old, recent := newKit(t, "6.49.10"), newKit(t, "7.16")
	for _, c := range []struct {
		k          *kit
		text, want string
	}{
		{recent, "/ip hotspot add name=h interface=ether5 comment=x", "expected end of command"},
		{recent, "/ip nowhere add", "bad command name"},
		{recent, "/ip firewall filter add chain=input action=nonsense", "input does not match any value of action"},
		{recent, ":put \"open", "expected \""},
		{recent, "{ :put a", "expected }"},
		{old, "/ip/pool/add name=a ranges=10.0.0.1", "bad command name"},
		{old, "/user group add name=a policy=read,rest-api", "input does not match any value of policy"},
		{old, "/interface sstp-client add name=a port=443", "expected end of command"},
	} {
		out, err := c.k.Script("/ip pool add name=first ranges=10.0.0.1\n:do { " + c.text + " } on-error={}")
		if c.text[0] == '{' || strings.HasSuffix(c.text, "open") {
			out, err = c.k.Script("/ip pool add name=first ranges=10.0.0.1\n" + c.text)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || out != "" {
			t.Errorf("%s: %q, %v", c.text, out, err)
		}
		if len(c.k.Snapshot(false)["ip/pool"]) != 1 {
			t.Errorf("%s: something ran", c.text)
		}
	}
}

func TestScript_AnImportStopsAndAPasteGoesOn(t *testing.T) {
	t.Parallel()
	text := ":put a\n:local x 1\n/ip pool add name=p ranges=nonsense\n:put \"x=$x\"\n/ip pool remove 0\n:while " +
		"(true) do={}"
	k := newKit(t, "7.16")
	if out, err := k.Script(text); out != "a\n" || err == nil || err.Error() != "invalid value for argument ranges" {
		t.Errorf("import: %q, %v", out, err)
	}
	out, faults := k.Paste(text)
	if out != "a\nx=\n" || len(faults) != 3 {
		t.Errorf("paste: %q, %v", out, faults)
	}
	if _, faults := k.Paste(":put \"a\tb\"\n:put why?"); len(faults) != 2 {
		t.Errorf("what a terminal acts on: %v", faults)
	}
}

func FuzzScript(f *testing.F) {
	f.Add(":put [:len [/ip pool find where name=\"x\"]]")
	f.Add("{ :local a {1;2}; :if ($a->0 = 1) do={ :put \"$a\" } else={} }")
	f.Add("/user group\nset [find name=\"full\"] policy=\"read,!write\"")
	sim, err := router.New(router.Config{Routers: []router.RouterConfig{{Name: "r"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = sim.Router("r").Script(text)
		_, _ = sim.Router("r").Paste(text)
	})
}
