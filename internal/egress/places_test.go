package egress_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the module's folder.
const root = "../.."

// dials matches what makes a connection, or asks where a name leads.
var dials = regexp.MustCompile(
	`net\.Dialer\b|http\.Transport\{|http\.DefaultClient|http\.Client\{|LookupNetIP|net\.Dial\(|tls\.Dial`)

// chosen matches a field of a command, by which somebody gives an address.
var chosen = regexp.MustCompile(
	`(?m)^\s+(\w*(?:URL|Address|Addresses|Host|Endpoint|Server))\s+` +
		`(?:\*?string|personal\.Text|secrets\.Text|\[\]string)`)

// dialling are the files that connect, and who chose the address. "organization" files have to name the guard that they
// use; all others connect to what the platform's operator has configured.
func dialling() map[string]string {
	return map[string]string{
		"internal/egress/egress.go":            "organization: egress.Guard itself",
		"gateways/webhooks/webhooks.go":        "organization: guard.Dial",
		"gateways/taxgateway/taxgateway.go":    "organization: addresses.Dial",
		"gateways/routeros/routeros.go":        "organization: cfg.Policy", // in production only the tunnel's addresses
		"radius/coa/coa.go":                    "caller",                   // jobs/access/dial.go asks the guard
		"gateways/messagegateway/sms.go":       "operator",
		"gateways/messagegateway/mail.go":      "operator",
		"gateways/genieacs/genieacs.go":        "operator",
		"gateways/mobilemoney/endpoint.go":     "operator",
		"gateways/olt/olt.go":                  "operator",
		"eventstore/reach.go":                  "operator",
		"cmd/lastmile/app.go":                  "operator",
		"cmd/lastmile/demo_routers.go":         "simulators",
		"cmd/lastmile/demo_client.go":          "simulators",
		"cmd/lastmile/cmd_simulate_handset.go": "simulators",
	}
}

// accepted are the addresses that come in commands, and where each is checked.
func accepted() map[string]string {
	return map[string]string{
		"webhooks_endpoint.go URL":             "gateways/webhooks/address.go",
		"billing_tax.go Address":               "gateways/taxgateway/taxgateway.go",
		"cpe_jobs.go URL":                      "cmd/lastmile/wire_cpe.go",
		"cpe_jobs.go Host":                     "", // the device pings it; nothing is loaded from there
		"network_device.go TunnelAddress":      "", // ours, in the tunnel's plan
		"audit_lookup.go Address":              "", // looked up, not dialled
		"identity_api_key.go AllowedAddresses": "", // compared, not dialled
	}
}

// sources returns the source files below a folder that no test and no simulator has, by path.
func sources(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules" ||
			name == "simulators" || name == "internal/storetest" || name == "httpapi/apitest") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // files of this repository
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlaces_EachOneThatDialsSaysWhoChoseTheAddress(t *testing.T) {
	t.Parallel()
	found, known := map[string]bool{}, map[string]bool{}
	files := sources(t, ".")
	for name, text := range files {
		if dials.MatchString(text) {
			found[name] = true
		}
	}
	for name, who := range dialling() {
		known[name] = true
		if guard, ok := strings.CutPrefix(who, "organization: "); ok && name != "internal/egress/egress.go" &&
			!strings.Contains(files[name], guard) {
			t.Errorf("%s does not use %s", name, guard)
		}
	}
	if d := cmp.Diff(known, found); d != "" {
		t.Errorf("files that dial (-listed +found):\n%s", d)
	}
	if !strings.Contains(files["jobs/access/dial.go"], "egress.Guard{") {
		t.Error("jobs/access/dial.go does not ask the guard")
	}
}

func TestPlaces_EachAddressOfACommandIsChecked(t *testing.T) {
	t.Parallel()
	files := sources(t, ".")
	found, known := map[string]bool{}, map[string]bool{}
	for name, text := range files {
		if filepath.Dir(name) != "commands" {
			continue
		}
		for _, m := range chosen.FindAllStringSubmatch(text, -1) {
			found[filepath.Base(name)+" "+m[1]] = true
		}
	}
	for field, where := range accepted() {
		known[field] = true
		if where != "" && !strings.Contains(files[where], ".CheckURL(") {
			t.Errorf("%s: %s does not ask the guard", field, where)
		}
	}
	if d := cmp.Diff(known, found); d != "" {
		t.Errorf("addresses in commands (-listed +found):\n%s", d)
	}
}
