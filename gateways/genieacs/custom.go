package genieacs

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/genieacs/script"
	"github.com/lastmile-isp/lastmile/internal/acstag"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// ErrForeign refuses to write in the place of a script or a preset that the platform has not written. Nothing was
// changed.
var ErrForeign = errors.New("somebody else has a script of this name at the CPE server")

// ownPrefix begins the names of our own provisions, presets and channels.
const ownPrefix = "lastmile-"

// customWeight lets the scripts of organizations run behind ours.
const customWeight = 20

// Custom is a provision of an organization, which runs at each inform of the devices that have a tag.
type Custom struct {
	OrgID   id.Organization // whose turn it is when the script is checked
	Name    string
	Tag     string
	Version int // at least 1
	Text    string
}

// bounds stands behind the text of a script, and holds what its calls hand to the server. Where it says PREFIX it gets
// that of the organization's tags.
//
//go:embed bounds.js
var bounds string

// script is the text, whose steps are counted, between a head that says whose it is, and the bounds of its calls. The
// head stands in the text's first line, so that errors have the numbers of the text's own lines. The text runs where
// the device has the organization's tag: what has failed the server tries again, also when the preset does not fit any
// more because the organization has given the device up. What is stored changes with the bounds, and is then written
// anew. Fails with a *Refusal of the first thing that a script does and may not.
func (s *Server) script(ctx context.Context, c Custom) (string, error) {
	prefix := strings.TrimPrefix(c.Tag, tagOfOrganization) + "-"
	text, err := script.Counted(ctx, s.turns, c.OrgID, c.Text, prefix)
	var fault *script.Fault
	if errors.As(err, &fault) {
		return "", &Refusal{
			Status:  http.StatusUnprocessableEntity,
			Message: fmt.Sprintf("Line %d of the script: %s.", fault.Line, fault.Text),
		}
	}
	if err != nil {
		return "", fmt.Errorf("check provision %s: %w", c.Name, err)
	}
	body := "return declare(" + strconv.Quote(tagInScript(c.Tag)) + ", {value: 1}).value && " +
		"(function (declare, clear, log, " + script.CountName + ") {" + text + "\n" +
		strings.Replace(bounds, "PREFIX", strconv.Quote(prefix), 1)
	return fmt.Sprintf("/* %s version %d sha256 %s */ %s", c.Name, c.Version, hashOf(body), body), nil
}

// customForm matches the head of a script of an organization that the platform has written; before the bounds were
// there it was a line like that of the platform's own scripts.
var customForm = regexp.MustCompile(`^/[/*] ([A-Za-z0-9_-]+) version [0-9]{1,9} sha256 [0-9a-f]{64}( \*/ |\n)`)

// tagOfOrganization begins the tag of an organization; the tags of its scripts begin with what follows there.
const tagOfOrganization = "org:"

// preset runs the script. It has a channel of its own, so that an error of the script holds up nothing else. One that
// changes its mind at each run is no error: the server gives all channels of such a session up (LoopCode).
func (c Custom) preset() Preset {
	return Preset{
		Name: c.Name, Channel: c.Name, Weight: customWeight, Events: map[string]bool{}, Provision: c.Name,
		Precondition: tagInScript(c.Tag) + " IS NOT NULL", Version: c.Version,
	}
}

// tagInScript is the path of a tag.
func tagInScript(tag string) string { return "Tags." + acstag.InScript(acstag.Name(tag)) }

// check refuses a name of ours.
func (c Custom) check() error {
	if strings.HasPrefix(c.Name, ownPrefix) || c.Version < 1 {
		return unfit("provision %s is none of an organization", c.Name)
	}
	return checkName(c.Name)
}

// InstallCustom brings script and preset to the server, and writes what is not there yet. It looks at both before it
// writes one, and writes the script first: a preset without its script is a fault of each device. A script that an
// earlier program took, and that does more than it may, is taken from the server. Fails: ErrForeign, a *Refusal for
// such a script and for what the server does not take.
func (s *Server) InstallCustom(ctx context.Context, c Custom) error {
	if err := c.check(); err != nil {
		return err
	}
	text, refused := s.script(ctx, c)
	if errors.As(refused, new(*Refusal)) {
		if err := s.RemoveCustom(ctx, c.Name); err != nil {
			return err
		}
		return refused
	}
	if refused != nil {
		return refused
	}
	have, preset, err := s.custom(ctx, c.Name)
	if err != nil {
		return err
	}
	if have.foreign() || preset.foreign() {
		return fmt.Errorf("provision %s: %w", c.Name, ErrForeign)
	}
	if have.text != text {
		if err := s.PutProvision(ctx, c.Name, text); err != nil {
			return fmt.Errorf("write provision %s: %w", c.Name, err)
		}
	}
	if ours := c.preset(); !preset.found || !reflect.DeepEqual(preset.Preset, ours) {
		if err := s.PutPreset(ctx, ours); err != nil {
			return fmt.Errorf("write preset %s: %w", c.Name, err)
		}
	}
	return nil
}

// RemoveCustom takes preset and script away, in this order. What the platform has not written stays.
func (s *Server) RemoveCustom(ctx context.Context, name string) error {
	if err := (Custom{Name: name, Version: 1}).check(); err != nil {
		return err
	}
	have, preset, err := s.custom(ctx, name)
	if err != nil {
		return err
	}
	if preset.found && !preset.foreign() {
		if err := s.DeletePreset(ctx, name); err != nil {
			return fmt.Errorf("delete preset %s: %w", name, err)
		}
	}
	if have.found && !have.foreign() && !preset.foreign() { // a foreign preset may run it
		if err := s.DeleteProvision(ctx, name); err != nil {
			return fmt.Errorf("delete provision %s: %w", name, err)
		}
	}
	return nil
}

// haveScript is a script as the server has it.
type haveScript struct {
	name, text string
	found      bool
}

// foreign reports whether the platform has not written it; one that somebody changed by hand is still the platform's.
func (h haveScript) foreign() bool {
	m := customForm.FindStringSubmatch(h.text)
	return h.found && (m == nil || m[1] != h.name)
}

// havePreset is a preset as the server has it.
type havePreset struct {
	Preset
	found bool
}

// foreign reports whether the platform has not written it.
func (h havePreset) foreign() bool { return h.found && h.Version == 0 }

// custom reads what the server has under a name.
func (s *Server) custom(ctx context.Context, name string) (haveScript, havePreset, error) {
	text, found, err := s.Provision(ctx, name)
	if err != nil {
		return haveScript{}, havePreset{}, fmt.Errorf("read provision %s: %w", name, err)
	}
	preset, has, err := s.Preset(ctx, name)
	if err != nil {
		return haveScript{}, havePreset{}, fmt.Errorf("read preset %s: %w", name, err)
	}
	return haveScript{name, text, found}, havePreset{preset, has}, nil
}
