package cpejobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Pauses ends those for which the CPE server holds back what has failed on a CPE: after each failure it waits twice as
// long. Every field is required. Safe for concurrent use. Source: docs/rules/cpe.md#faults.
type Pauses struct {
	Gateway *genieacs.Server
	// Scripts reads the provisions, of all organizations, that have or had some names at the CPE server.
	Scripts func(ctx context.Context, names []string) ([]cpeviews.ProvisionRow, error)
	// Refuse takes a provision from the CPE server that never comes to rest.
	Refuse func(ctx context.Context, row cpeviews.ProvisionRow, cause jobs.Cause) error
}

// Limits of what is mended after one reading of the faults; the rest waits for the next ones. The CPE server knows a
// script a few seconds after it was brought.
const (
	maxMended  = 500 // CPEs
	loopMargin = time.Minute
)

// ours reports whether a fault is of the platform's own presets.
func ours(f genieacs.Fault) bool { return strings.HasPrefix(f.Channel, genieacs.OwnChannel) }

// End has the CPE server forget those faults of a CPE that are older than its claim: the next organization is not told
// of them and must not wait for them, and what has failed would run again by itself, also a script of the one before.
// Faults of tasks end with their operations, and those of presets of the server's operator stay. Fails:
// genieacs.ErrInSession.
func (p Pauses) End(ctx context.Context, row cpeviews.CPERow, faults []genieacs.Fault) error {
	var old []genieacs.Fault
	var names []string
	for _, f := range faults {
		if _, ofTask := f.Task(); ofTask || !(known{f, row}).shownTo().IsZero() {
			continue
		}
		if old = append(old, f); !ours(f) {
			names = append(names, f.Channel)
		}
	}
	scripts, err := p.named(ctx, names)
	if err != nil {
		return err
	}
	for _, f := range old {
		if ours(f) || len(scripts[f.Channel]) > 0 {
			if err := p.Gateway.ClearFault(ctx, f.ID); err != nil {
				return fmt.Errorf("end the pause of %s: %w", f.Channel, err)
			}
		}
	}
	return nil
}

// named gives the provisions that have or had some names.
func (p Pauses) named(ctx context.Context, names []string) (map[string][]cpeviews.ProvisionRow, error) {
	out := map[string][]cpeviews.ProvisionRow{}
	if len(names) == 0 {
		return out, nil
	}
	rows, err := p.Scripts(ctx, names)
	for _, row := range rows {
		out[row.StoredName] = append(out[row.StoredName], row)
	}
	return out, err
}

// mending has what a reading of all faults has found to mend, by CPEs.
type mending struct{ old, loops map[id.CPE][]known }

// note remembers a fault that is older than the claim of its CPE, or says that presets never came to rest.
func (m mending) note(k known) {
	into := m.loops
	switch {
	case !k.cpe.OrgID.IsZero() && k.shownTo().IsZero():
		into = m.old
	case k.fault.Code != genieacs.LoopCode:
		return
	}
	if list := into[k.cpe.ID]; len(list) > 0 || len(into) < maxMended {
		into[k.cpe.ID] = append(list, k)
	}
}

// mend ends what was found. A script that never comes to rest makes the CPE server hold back all presets of the
// session; it is refused when there was no other one, and the platform's own presets work on.
func (p Pauses) mend(ctx context.Context, m mending, cause jobs.Cause) error {
	for _, list := range m.old {
		var faults []genieacs.Fault
		for _, k := range list {
			faults = append(faults, k.fault)
		}
		if err := p.End(ctx, list[0].cpe, faults); err != nil && !errors.Is(err, genieacs.ErrInSession) {
			return err
		}
	}
	refused := map[id.CPEProvision]bool{}
	for _, list := range m.loops {
		row, err := p.culprit(ctx, list)
		if err == nil && row != nil && !refused[row.ID] {
			refused[row.ID] = true
			err = p.Refuse(ctx, *row, cause)
		}
		if err != nil {
			return err
		}
	}
	for _, list := range m.loops {
		for _, k := range list {
			if !ours(k.fault) {
				continue
			}
			if err := p.Gateway.ClearFault(ctx, k.fault.ID); err != nil && !errors.Is(err, genieacs.ErrInSession) {
				return fmt.Errorf("end the pause of %s: %w", k.fault.Channel, err)
			}
		}
	}
	return nil
}

// culprit gives the script that kept the presets of a session from coming to rest; nil when that is not certain. Ours
// do come to rest unless they ask the platform, so it is the only other one; ours are there as long as nobody has
// cleared faults of the session.
func (p Pauses) culprit(ctx context.Context, list []known) (*cpeviews.ProvisionRow, error) {
	others, whole, asks := map[time.Time][]known{}, map[time.Time]bool{}, map[time.Time]bool{}
	for _, k := range list {
		if at := k.fault.At; ours(k.fault) {
			whole[at], asks[at] = true, asks[at] || genieacs.Asks(k.fault.Channel)
		} else {
			others[at] = append(others[at], k)
		}
	}
	for at, group := range others {
		if !whole[at] || asks[at] || len(group) > 1 {
			continue
		}
		channel, org := group[0].fault.Channel, group[0].shownTo()
		scripts, err := p.named(ctx, []string{channel})
		if err != nil {
			return nil, err
		}
		for _, row := range scripts[channel] {
			runs := row.State == cpeviews.ProvisionInstalled || loops(row)
			happened := group[0].fault.Happened()
			if runs && row.OrgID == org && row.SettledAt != nil && happened.After(row.SettledAt.Add(loopMargin)) {
				return &row, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // it is not certain
}
