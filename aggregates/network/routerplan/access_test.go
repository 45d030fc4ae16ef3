package routerplan_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	routeros "github.com/go-routeros/routeros/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/aggregates/network/routerplan"
	"github.com/lastmile-isp/lastmile/simulators/router"
)

// way is how the platform tries to get into a router, as docs/rules/network.md#api-ports says.
type way struct {
	port      int
	rest, tls bool
}

// waysOf lists what the platform tries for an API port, best first.
func waysOf(apiPort int) []way {
	switch apiPort {
	case 443:
		return []way{{443, true, true}, {8729, false, true}}
	case 8728:
		return []way{{8728, false, false}}
	case 8729:
		return []way{{8729, false, true}}
	}
	return []way{{apiPort, true, false}, {8728, false, false}, {8729, false, true}}
}

// anyCertificate accepts a router's own certificate, as the platform does.
var anyCertificate = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // a simulated router's own

// enter logs in as the platform's user and reads the identity; patience bounds the attempt.
func (w way) enter(sim *router.Simulator, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	address := fmt.Sprintf("10.99.0.2:%d", w.port)
	if !w.rest {
		conn, err := sim.Dial(ctx, "tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		if deadline, ok := ctx.Deadline(); ok {
			_ = conn.SetDeadline(deadline)
		}
		if w.tls {
			conn = tls.Client(conn, anyCertificate)
		}
		client, err := routeros.NewClient(conn)
		if err != nil {
			return err
		}
		client.SetLogHandler(slog.DiscardHandler)
		return client.Login("platform", "apiPassword1")
	}
	scheme := map[bool]string{false: "http", true: "https"}[w.tls]
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/rest/system/identity", nil)
	if err != nil {
		return err
	}
	req.SetBasicAuth("platform", "apiPassword1")
	client := &http.Client{Transport: &http.Transport{
		DialContext: sim.Dial, TLSClientConfig: anyCertificate, DisableKeepAlives: true,
	}}
	answer, err := client.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "application/json" {
		return fmt.Errorf("status %d, %s", answer.StatusCode, answer.Header.Get("Content-Type"))
	}
	return nil
}

// enter tries all ways of an API port; nil when one works.
func enter(sim *router.Simulator, apiPort int) error {
	var all error
	for _, w := range waysOf(apiPort) {
		err := w.enter(sim, 5*time.Second)
		if err == nil {
			return nil
		}
		all = errors.Join(all, err)
	}
	return all
}

// services are the rows of ip/service by name, without the rows of single connections.
func services(t *testing.T, r *router.Router) map[string]router.Item {
	t.Helper()
	items, err := r.Do("ip/service", "print", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]router.Item{}
	for _, item := range items {
		if item["dynamic"] != "true" {
			out[item["name"]] = item
		}
	}
	return out
}

// settled is a router's configuration without the ids of the platform's own firewall rules, which each run makes anew.
func settled(r *router.Router) router.Snapshot {
	s := r.Snapshot(false)
	for _, rule := range s["ip/firewall/filter"] {
		if strings.HasPrefix(rule["comment"], routerplan.FirewallTag) {
			delete(rule, ".id")
		}
	}
	return s
}

// TestBootstrap_LeavesAWayInThatIsRestrictedToTheTunnel runs the script twice on fresh routers of all releases, for all
// kinds of API ports, where the operator has switched off all services that the platform could use.
func TestBootstrap_LeavesAWayInThatIsRestrictedToTheTunnel(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		for _, apiPort := range []int{80, 8080, 443, 8728, 8729} {
			t.Run(fmt.Sprintf("%s port %d", version, apiPort), func(t *testing.T) {
				t.Parallel()
				sim := fresh(t, router.RouterConfig{Version: version, Remote: true})
				r := sim.Router("r1")
				if _, err := r.Do("ip/service", "disable", router.Item{
					"numbers": "www,www-ssl,api,api-ssl",
				}); err != nil {
					t.Fatal(err)
				}
				c := bootstrapConfig()
				c.APIPort = apiPort
				script, err := routerplan.Bootstrap(c)
				if err != nil {
					t.Fatal(err)
				}
				checkScript(t, script)
				if out, err := r.Script(script); err != nil || !strings.HasSuffix(out, "BOOTSTRAP_VERSION=2 done\n") {
					t.Fatalf("%v: %s", err, out)
				}
				first := settled(r)
				if out, faults := r.Paste(script); len(faults) > 0 || strings.Contains(out, "another") {
					t.Fatalf("pasted: %v: %s", faults, out)
				}
				if diff := cmp.Diff(first, settled(r)); diff != "" {
					t.Errorf("a second run changed something:\n%s", diff)
				}
				if err := enter(sim, apiPort); err != nil {
					t.Errorf("no way in: %v", err)
				}
				closedToOthers(t, sim, apiPort, version)
			})
		}
	}
}

// closedToOthers wants that nobody but the platform reaches a service that the script restricts or switched on.
func closedToOthers(t *testing.T, sim *router.Simulator, apiPort int, version string) {
	t.Helper()
	r := sim.Router("r1")
	all := services(t, r)
	for _, name := range []string{"www", "www-ssl"} {
		if all[name]["address"] != "10.99.0.0/16" {
			t.Errorf("%s has REST and answers everybody: %v", name, all[name])
		}
	}
	for _, one := range routerplan.ServicePlan(apiPort, routerplan.ParseVersion(version)) {
		row := all[one.Name]
		if row["address"] != "10.99.0.0/16" {
			t.Errorf("%s answers everybody: %v", one.Name, row)
		}
		if one.Port > 0 && (row["disabled"] != "false" || row["port"] != fmt.Sprint(one.Port)) ||
			one.Port == 0 && row["disabled"] != "true" {
			t.Errorf("%s is not as planned (%+v): %v", one.Name, one, row)
		}
	}
	if on := slices.DeleteFunc([]string{"api", "api-ssl"}, func(name string) bool {
		return all[name]["disabled"] == "true" || all[name]["address"] != ""
	}); len(on) > 0 {
		t.Errorf("%v were switched on for everybody", on)
	}
	// another router, the LAN, the internet
	for _, from := range []string{"10.99.7.7", "192.168.88.9", "198.51.100.4"} {
		r.SetSeenFrom(netip.MustParseAddr(from))
		for _, w := range waysOf(apiPort)[:1] {
			if err := w.enter(sim, 30*time.Millisecond); err == nil {
				t.Errorf("%s came in at port %d", from, w.port)
			}
		}
	}
	r.SetSeenFrom(netip.MustParseAddr("10.99.0.1"))
}

func TestBootstrap_AnotherAPIPortMovesTheServiceBack(t *testing.T) {
	t.Parallel()
	sim := fresh(t, router.RouterConfig{Version: "7.16", Remote: true})
	for _, port := range []int{8080, 80} {
		c := bootstrapConfig()
		c.APIPort = port
		script, err := routerplan.Bootstrap(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, faults := sim.Router("r1").Paste(script); len(faults) > 0 {
			t.Fatal(faults)
		}
		if err := (way{port, true, false}).enter(sim, 5*time.Second); err != nil {
			t.Errorf("at port %d: %v", port, err)
		}
	}
}

func TestBootstrap_NeverTakesThePortOfAnotherService(t *testing.T) {
	t.Parallel()
	for _, port := range []int{8291, 22, 23, 21} {
		c := bootstrapConfig()
		c.APIPort = port
		if _, err := routerplan.Bootstrap(c); err == nil || !strings.Contains(err.Error(), "apiPort") {
			t.Errorf("port %d: %v", port, err)
		}
	}
	for _, version := range releases {
		r := simulated(t, version)
		if _, err := r.Do("ip/service", "set", router.Item{"numbers": "winbox", "port": "8080"}); err != nil {
			t.Fatal(err)
		}
		c := bootstrapConfig()
		c.APIPort = 8080
		script, err := routerplan.Bootstrap(c)
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Script(script)
		if err != nil || !strings.Contains(out, "Port 8080 belongs to another service") ||
			!strings.HasSuffix(out, "BOOTSTRAP_VERSION=2 done\n") {
			t.Errorf("%s: %v: %s", version, err, out)
		}
		if all := services(t, r); all["winbox"]["port"] != "8080" || all["www"]["port"] != "80" {
			t.Errorf("%s: %v, %v", version, all["winbox"], all["www"])
		}
	}
}

func TestBootstrap_KeepsACertificateOfTheOperator(t *testing.T) {
	t.Parallel()
	for _, version := range releases {
		r := simulated(t, version)
		if err := r.Certify(); err != nil {
			t.Fatal(err)
		}
		c := bootstrapConfig()
		c.APIPort = 8729
		script, err := routerplan.Bootstrap(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Script(script); err != nil {
			t.Fatal(err)
		}
		if got := services(t, r)["api-ssl"]["certificate"]; got != "operator" {
			t.Errorf("%s: certificate %q", version, got)
		}
		if _, err := r.Do("certificate", "remove", router.Item{"numbers": "operator"}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Script(script); err != nil {
			t.Fatal(err)
		}
		if got := services(t, r)["api-ssl"]["certificate"]; got != "platform-api" {
			t.Errorf("%s: after the operator's is gone: %q", version, got)
		}
	}
}

// TestBootstrap_LetsOtherRoutersOfTheTunnelNowhere: rules narrow input to the platform's address, and nothing that
// comes through the tunnel from elsewhere is forwarded.
func TestBootstrap_LetsOtherRoutersOfTheTunnelNowhere(t *testing.T) {
	t.Parallel()
	last := map[string]routerplan.Resource{}
	for _, rule := range routerplan.FirewallRules(fw) {
		v := rule.Values
		if v["in-interface"] != "platform-tunnel" || v["action"] == "accept" && v["src-address"] != "10.99.0.1" {
			t.Errorf("%s lets in more than the platform: %v", rule.Name, v)
		}
		if before, dropped := last[v["chain"]]; dropped && before.Values["action"] == "drop" {
			t.Errorf("%s comes after %s, which drops all", rule.Name, before.Name)
		}
		last[v["chain"]] = rule
	}
	for _, chain := range []string{"input", "forward"} {
		if v := last[chain].Values; v["action"] != "drop" || v["src-address"] != "" {
			t.Errorf("%s ends with %v", chain, v)
		}
	}
}
