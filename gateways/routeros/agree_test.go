package routeros_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/routeros"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// walk does one random operation and gives its result in words that do not depend on the protocol.
func walk(t *testing.T, rnd *rand.Rand, d routeros.Router) string {
	t.Helper()
	pick := func(words ...string) string { return words[rnd.IntN(len(words))] }
	id := fmt.Sprintf("*%X", 1+rnd.IntN(14))
	menu := pick("ip/pool", "ip/firewall/filter", "ip/firewall/address-list", "interface/vlan",
		"ip/hotspot/walled-garden", "ip/address", "ppp/profile", "interface")
	values := props{}
	for _, name := range []string{
		"name", "ranges", "chain", "action", "list", "address", "interface", "vlan-id", "dst-host", "comment",
		"disabled", "local-address",
	} {
		if rnd.IntN(3) > 0 {
			continue
		}
		values[name] = pick("a", "b", "10.0.0.1", "10.0.0.0/24", "input", "accept", "ether5", "ether4", "7", "5000",
			"yes", "no", "", "Platform-svc:ü \"&=?%2A")
	}
	var items []routeros.Item
	var err error
	switch rnd.IntN(6) {
	case 0, 1:
		var added string
		added, err = d.Add(t.Context(), menu, values)
		items = []routeros.Item{{"ret": added}}
	case 2:
		err = d.Set(t.Context(), menu, id, values)
	case 3:
		err = d.Remove(t.Context(), menu, id)
	case 4:
		err = d.Move(t.Context(), "ip/firewall/filter", id, fmt.Sprintf("*%X", 1+rnd.IntN(14)))
	case 5:
		for name := range values {
			if menu == "interface" || rnd.IntN(2) == 0 {
				delete(values, name)
			}
		}
		items, err = d.Print(t.Context(), menu, routeros.Query{Where: values})
	}
	if r := routeros.RefusalOf(err); r != nil {
		return fmt.Sprint(r.Message, routeros.IsMissing(err), routeros.IsDuplicate(err))
	}
	return fmt.Sprint(items, err)
}

func TestProtocols_AgreeOnWhateverIsDone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		version := []string{"7.6", "7.16", "7.23.7"}[seed%3]
		a, b := newKit(t, version, routeros.PortHTTPS), newKit(t, version, routeros.PortAPI)
		if seed%2 == 1 {
			a.router.SetFaults(router.Faults{RefuseIDs: true})
		}
		left, right := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 1))
		refusals := 0
		for step := range 150 {
			x, y := walk(t, left, a.device()), walk(t, right, b.device())
			if x != y {
				t.Fatalf("seed %d step %d: REST gives %s, the API protocol %s", seed, step, x, y)
			}
			if x[0] != '[' {
				refusals++
			}
		}
		if diff := cmp.Diff(a.router.Snapshot(true), b.router.Snapshot(true)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
		if refusals == 150 || refusals == 0 {
			t.Errorf("seed %d: %d refusals of 150", seed, refusals)
		}
	}
}
