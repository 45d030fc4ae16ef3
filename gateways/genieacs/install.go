package genieacs

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// own has the scripts, the extension and the instructions for an installation.
//
//go:embed own
var own embed.FS

// OwnVersion is the version of our provisions and presets. It grows with each change of one of them: a program that
// finds a higher one leaves it as it is (docs/rules/cpe.md#standard-provisions). TestOwn_AChangeIsANewVersion holds it.
const OwnVersion = 6

// Unidentified is the tag of a device about which the platform could not be asked; the next inform asks again.
const Unidentified = "lastmile_unidentified"

// Left begins the tag of a device that may have a login which is not its any more; the username follows. The next
// inform takes login and tag away, unless the device has the tag of a login: then the tag goes when that login is on
// the device.
const Left = "lastmile_was:"

// LeftOrganization begins the tag of a device that may have tags of scripts of an organization which does not have it
// any more; the organization's name follows. The next inform takes them and this one away, unless the device has the
// tag of that organization.
const LeftOrganization = "lastmile_left:"

// OwnChannel begins the names of the channels on which our provisions run.
const OwnChannel = ownPrefix

// Names of our provisions. Their presets and channels have names that begin alike.
const (
	bootstrapName = "lastmile-bootstrap"
	identifyName  = "lastmile-identify"
	signInName    = "lastmile-sign-in"
	leavingName   = "lastmile-leaving"
	healthName    = "lastmile-health"
	lookName      = "lastmile-look"
	informName    = "lastmile-inform"
	intervalName  = "lastmile-interval"
)

// Asks reports whether the scripts of a channel of ours do what the platform answers them, which may be something else
// at each run of a session while the platform is now there and now not.
func Asks(channel string) bool { return channel == bootstrapName || channel == signInName }

// Script is a provision as it is uploaded.
type Script struct{ Name, Text string }

// OwnScripts are our provisions, each with a first line that has its version and the hash of the rest.
func OwnScripts() []Script {
	common := ownFile("common.js")
	identify := common + ownFile("identify.js")
	out := []Script{
		{bootstrapName, ownFile("bootstrap.js") + identify}, {identifyName, identify},
		{signInName, common + ownFile("sign-in.js")}, {leavingName, common + ownFile("leaving.js")},
		{healthName, ownFile("health.js")}, {lookName, ownFile("look.js")}, {informName, ownFile("inform.js")},
		{intervalName, ownFile("interval.js")},
	}
	for i, s := range out {
		out[i].Text = headed(s.Name, OwnVersion, s.Text)
	}
	return out
}

// ownFile reads an embedded file.
func ownFile(name string) string {
	text, err := own.ReadFile("own/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(text)
}

// afterBootstrap is the weight of presets that look at settings which a device has lost when it says BOOTSTRAP.
const afterBootstrap = 3

// OwnPresets are the presets that run our provisions. The server runs all that fit a session together, and of what they
// declare the later ones by weight win: a login that is told wins over one that leaves. Settings that do not depend on
// each other have channels of their own: of a fault the server does not know whose it is, and tries each channel alone.
func OwnPresets() []Preset {
	out := []Preset{
		{
			Name: leavingName, Channel: leavingName, Events: map[string]bool{}, Provision: leavingName,
			Version: OwnVersion,
		},
		{
			Name: informName, Channel: informName, Weight: afterBootstrap, Events: map[string]bool{},
			Provision: informName, Version: OwnVersion,
		},
		{
			Name: intervalName, Channel: intervalName, Weight: afterBootstrap, Events: map[string]bool{},
			Provision: intervalName, Version: OwnVersion,
		},
		{
			Name: healthName, Channel: healthName, Weight: 10, Events: map[string]bool{"2 PERIODIC": true},
			Provision: healthName, Version: OwnVersion,
		},
	}
	for _, when := range []struct {
		name, precondition string
		events             map[string]bool
	}{ // only one of them fits a session
		{name: "bootstrap", events: map[string]bool{"0 BOOTSTRAP": true}},
		{ // the server has forgotten the device, which does not know that
			name: "registered", events: map[string]bool{"0 BOOTSTRAP": false, "Registered": true},
		},
		{
			name: "again", events: map[string]bool{"0 BOOTSTRAP": false, "Registered": false},
			precondition: "Tags." + acstag.InScript(Unidentified) + " IS NOT NULL",
		},
		{ // one that the server knew before it had our provisions has never asked, and is not new to it
			name: "boot", events: map[string]bool{"0 BOOTSTRAP": false, "Registered": false, "1 BOOT": true},
			precondition: "Tags." + acstag.InScript(Unidentified) + " IS NULL",
		},
	} {
		asks := Preset{
			Name: "lastmile-" + when.name, Channel: bootstrapName, Weight: 1, Events: when.events,
			Precondition: when.precondition, Provision: identifyName, Version: OwnVersion,
		}
		if asks.Name == bootstrapName {
			asks.Provision = bootstrapName
		}
		signsIn := asks
		signsIn.Name, signsIn.Channel, signsIn.Provision = signInName+"-"+when.name, signInName, signInName
		signsIn.Weight = asks.Weight + 1
		looks := asks
		looks.Name, looks.Channel, looks.Provision = lookName+"-"+when.name, lookName, lookName
		out = append(out, asks, signsIn, looks)
	}
	return out
}

// headed puts the first line before a script.
func headed(name string, version int, text string) string {
	return fmt.Sprintf("// %s version %d sha256 %s\n%s", name, version, hashOf(text), text)
}

// hashOf is the hash of a script without its first line.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// headForm matches the first line of a script that the platform has written.
var headForm = regexp.MustCompile(`^// ([A-Za-z0-9_-]+) version ([0-9]{1,9}) sha256 ([0-9a-f]{64})\n`)

// versionOf reads the first line of a script. ok is false when it is not one of ours, or was changed by hand.
func versionOf(name, script string) (version int, hash string, ok bool) {
	m := headForm.FindStringSubmatch(script)
	if m == nil || m[1] != name || hashOf(script[len(m[0]):]) != m[3] {
		return 0, "", false
	}
	version, err := strconv.Atoi(m[2])
	return version, m[3], err == nil
}

// Installed says what Install has done, by names.
type Installed struct {
	Written []string // were missing, older or changed by hand
	Newer   []string // are of a newer program and were left as they are
}

// Install brings our provisions and presets to the server, reading first what is there: what is equal is not written,
// and what a newer program wrote stays. Of two programs of one version whose scripts differ, the one with the greater
// hash wins, whoever starts last: they never write in turns. Provisions go before the presets that name them.
func (s *Server) Install(ctx context.Context) (Installed, error) {
	var out Installed
	for _, ours := range OwnScripts() {
		have, found, err := s.Provision(ctx, ours.Name)
		if err != nil {
			return out, fmt.Errorf("read provision %s: %w", ours.Name, err)
		}
		switch {
		case found && have == ours.Text:
		case found && prevails(ours, have):
			out.Newer = append(out.Newer, ours.Name)
		default:
			if err := s.PutProvision(ctx, ours.Name, ours.Text); err != nil {
				return out, fmt.Errorf("write provision %s: %w", ours.Name, err)
			}
			out.Written = append(out.Written, ours.Name)
		}
	}
	for _, ours := range OwnPresets() {
		have, found, err := s.Preset(ctx, ours.Name)
		if err != nil {
			return out, fmt.Errorf("read preset %s: %w", ours.Name, err)
		}
		switch {
		case found && reflect.DeepEqual(have, ours):
		case found && have.Version > OwnVersion:
			out.Newer = append(out.Newer, ours.Name)
		default:
			if err := s.PutPreset(ctx, ours); err != nil {
				return out, fmt.Errorf("write preset %s: %w", ours.Name, err)
			}
			out.Written = append(out.Written, ours.Name)
		}
	}
	return out, nil
}

// prevails reports whether the script on the server stays although ours differs.
func prevails(ours Script, have string) bool {
	version, hash, ok := versionOf(ours.Name, have)
	_, mine, _ := versionOf(ours.Name, ours.Text)
	return ok && (version > OwnVersion || version == OwnVersion && hash > mine)
}

// Settings are the values of genieacs.env.
type Settings struct {
	Identify string // address of POST /internal/cpe/identify, which wants Key in X-Internal-Key
	Key      secrets.Text
	Files    string // address of the file server as devices reach it; "" = the server's own guess
}

// SignIn is the expression by which the server decides whether a device is let in: its configuration cwmp.auth. The
// inner call has the password that the device must show, the outer one decides. Source: docs/rules/cpe.md#sign-in.
func SignIn() string { return strings.TrimSpace(ownFile(signInFile)) }

// signInFile has the expression.
const signInFile = "cwmp.auth"

// InstallationFiles are the files that a real installation needs, by their paths.
func InstallationFiles(to Settings) (map[string]string, error) {
	out := map[string]string{
		"README.md": ownFile("README.md"), "ext/lastmile.js": ownFile("lastmile.js"), signInFile: ownFile(signInFile),
	}
	for _, s := range OwnScripts() {
		out["provisions/"+s.Name+".js"] = s.Text
	}
	for _, p := range OwnPresets() {
		body, err := p.body()
		if err != nil {
			return nil, err
		}
		var plain any
		if err := json.Unmarshal(body, &plain); err != nil {
			return nil, fmt.Errorf("preset %s: %w", p.Name, err)
		}
		text, err := json.MarshalIndent(plain, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("preset %s: %w", p.Name, err)
		}
		out["presets/"+p.Name+".json"] = string(text) + "\n"
	}
	lines := []string{
		"GENIEACS_EXT_TIMEOUT=3000", "LASTMILE_IDENTIFY_URL=" + to.Identify, "LASTMILE_INTERNAL_KEY=" + to.Key.Reveal(),
	}
	if to.Files != "" {
		lines = append(lines, "GENIEACS_FS_URL_PREFIX="+strings.TrimRight(to.Files, "/")+"/")
	}
	for _, l := range lines {
		if strings.ContainsAny(l, "\r\n") {
			return nil, unfit("a setting has more than one line")
		}
	}
	out["genieacs.env"] = strings.Join(lines, "\n") + "\n"
	return out, nil
}
