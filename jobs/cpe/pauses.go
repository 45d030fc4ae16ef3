package cpejobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Pauses ends those for which the CPE server holds back what has failed on a CPE: after each failure it waits twice as
// long. Every field is required. Safe for concurrent use. Source: docs/rules/cpe.md#faults.
type Pauses struct {
	Gateway *genieacs.Server
	Informs *Informs // which have the tables, and know who has called
	// Devices reads up to max CPEs of an organization.
	Devices func(ctx context.Context, org id.Organization, max int) ([]cpeviews.CPERow, error)
	// Scripts reads the provisions, of all organizations, that have or had some names at the CPE server.
	Scripts func(ctx context.Context, names []string) ([]cpeviews.ProvisionRow, error)
	// Refuse takes a provision from the CPE server that never comes to rest.
	Refuse func(ctx context.Context, row cpeviews.ProvisionRow, cause jobs.Cause) error
}

// Limits of what is mended after one reading of the faults; the rest waits for the next ones.
const (
	maxMended = 500 // CPEs
	toldFails = 5   // that are told of one by one
)

// ours reports whether a fault is of the platform's own presets.
func ours(f genieacs.Fault) bool { return strings.HasPrefix(f.Channel, genieacs.OwnChannel) }

// endTries bounds how often the faults of a CPE are read until none is left that is to end.
const endTries = 3

// End has the CPE server forget those faults of a CPE that are older than its claim: the next organization is not told
// of them and must not wait for them, and what has failed would run again by itself, also a script of the one before.
// One that a session has noted anew meanwhile is read again, so that none is left. Faults of tasks end with their
// operations, and those of presets of the server's operator stay. Fails: genieacs.ErrInSession.
func (p Pauses) End(ctx context.Context, row cpeviews.CPERow, device genieacs.DeviceID) error {
	for range endTries {
		faults, err := p.Gateway.DeviceFaults(ctx, device)
		if err != nil {
			return err
		}
		var old []known
		for _, f := range faults {
			if k := (known{f, row}); k.outlived() {
				old = append(old, k)
			}
		}
		if old, err = p.endable(ctx, old); err != nil || len(old) == 0 {
			return err
		}
		for _, k := range old {
			if err := p.forget(ctx, k.fault); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("end the pauses of %s, which are there again: %w", device, genieacs.ErrInSession)
}

// outlived reports whether a fault is of before the claim of its CPE, and not of a task.
func (k known) outlived() bool {
	_, ofTask := k.fault.Task()
	return !ofTask && k.shownTo().IsZero()
}

// endable picks those faults that are of the platform's presets, or of a script that an organization has or had.
func (p Pauses) endable(ctx context.Context, list []known) ([]known, error) {
	var names []string
	for _, k := range list {
		if !ours(k.fault) {
			names = append(names, k.fault.Channel)
		}
	}
	slices.Sort(names)
	scripts, err := p.named(ctx, slices.Compact(names))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(k known) bool {
		return !ours(k.fault) && len(scripts[k.fault.Channel]) == 0
	}), nil
}

// forget has the CPE server forget a fault that is still as it was read. Fails: genieacs.ErrInSession.
func (p Pauses) forget(ctx context.Context, f genieacs.Fault) error {
	if err := p.Gateway.ClearSeen(ctx, f); err != nil {
		return fmt.Errorf("end the pause of %s: %w", f.ID, err)
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

// mending has what a reading of all faults has found to mend.
type mending struct{ old, loops []known }

// note remembers a fault that is older than the claim of its CPE, or says that presets never came to rest. What waits
// on a CPE that nobody has is the platform's own work, which goes on as the server tries it again; but no script of an
// organization has anything to do there any more.
func (m *mending) note(k known) {
	switch {
	case k.shownTo().IsZero() && (!k.cpe.OrgID.IsZero() || !ours(k.fault)):
		if k.outlived() {
			m.old = append(m.old, k)
		}
	case k.fault.Code == genieacs.LoopCode:
		m.loops = append(m.loops, k)
	}
}

// some gives the faults of up to maxMended CPEs, CPE by CPE. Each reading begins at another one, so that those on which
// nothing can be done never hold up the others for ever.
func some(list []known, reading id.Any) [][]known {
	of := map[id.CPE][]known{}
	for _, k := range list {
		of[k.cpe.ID] = append(of[k.cpe.ID], k)
	}
	cpes := slices.SortedFunc(maps.Keys(of), compareCPEs)
	from, _ := slices.BinarySearchFunc(cpes, id.Derive[id.CPE]("mended first", reading.String()), compareCPEs)
	var out [][]known
	for _, cpe := range slices.Concat(cpes[from:], cpes[:from])[:min(len(cpes), maxMended)] {
		out = append(out, of[cpe])
	}
	return out
}

// compareCPEs orders ids.
func compareCPEs(a, b id.CPE) int { return bytes.Compare(a[:], b[:]) }

// mend ends what was found. Scripts that never come to rest make the CPE server hold back all presets of the session:
// the platform's own work on, whoever it was. What fails about one CPE or script holds up no other one; only a server
// that cannot be reached, or the end of the time, ends the work.
func (p Pauses) mend(ctx context.Context, m mending, cause jobs.Cause) error {
	var failed failures
	old, err := p.endable(ctx, m.old)
	failed.add(err)
	asked := asking(m.loops)
	held := some(waiting(m.loops), cause.JobID)
	if err := p.witness(ctx, held, asked); err != nil {
		failed.add(err)
		held = nil // the faults that prove it must stay until it is noted
	}
	culprits, err := p.culprits(ctx)
	failed.add(err)
	for _, row := range culprits {
		err := p.Refuse(ctx, row, cause)
		if err != nil && hopeless(ctx, err) {
			return failed.with(err)
		}
		failed.add(err)
	}
	todo := slices.Concat(some(old, cause.JobID)...)
	for _, k := range slices.Concat(held...) {
		if ours(k.fault) { // the script waits, where it is not taken away: each time it runs, all of this happens again
			todo = append(todo, k)
		}
	}
	for _, k := range todo {
		err := p.forget(ctx, k.fault)
		switch {
		case err == nil, errors.Is(err, genieacs.ErrInSession):
		case hopeless(ctx, err):
			return failed.with(err)
		default:
			failed.add(err)
		}
	}
	return failed.with(nil)
}

// hopeless reports whether whatever comes after an error would fail alike.
func hopeless(ctx context.Context, err error) bool {
	return ctx.Err() != nil || genieacs.Unreachable(err)
}

// failures collects errors: the first ones, and how many there were. The zero value has none.
type failures struct {
	told []error
	all  int
}

// add remembers an error; nil is none.
func (f *failures) add(err error) {
	if err == nil {
		return
	}
	if f.all++; len(f.told) < toldFails {
		f.told = append(f.told, err)
	}
}

// with joins what was collected, and a last error; nil when there is nothing.
func (f *failures) with(last error) error {
	if more := f.all - len(f.told); more > 0 {
		last = errors.Join(fmt.Errorf("and %d more", more), last)
	}
	return errors.Join(append(f.told, last)...)
}
