package paymentsjobs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lastmile-isp/lastmile/internal/journal"
	"github.com/lastmile-isp/lastmile/internal/placename"
)

// Place names the journal among those of all programs of the platform. It is the same after a restart.
func (k *Kept) Place() string { return k.place }

// adopt takes over what programs that are gone have left on the disk, with leaving also their places. all is false when
// something is left there.
func (k *Kept) adopt(ctx context.Context, leaving bool) (all bool) {
	all = true
	now, cancel := context.WithCancel(ctx)
	cancel() // what another program has is left alone at once
	for n := range keptJournals {
		err := k.moveOld(now, k.name(n)+oldKeptSuffix)
		if path := k.name(n); path != k.path && err == nil {
			err = k.moveAll(now, path, leaving)
		}
		all = all && err == nil
		if err != nil && !errors.Is(err, journal.ErrTaken) {
			k.logger.WarnContext(ctx, "callbacks of another program are not taken over", "error", err)
		}
	}
	return all
}

// moveAll appends all callbacks of another journal, if there is one, to that of this program. With leaving, the next
// program with that journal has a new place.
func (k *Kept) moveAll(ctx context.Context, path string, leaving bool) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	from, err := k.journal(ctx, path)
	if err != nil {
		return err
	}
	defer from.Close()
	for !from.Empty() {
		records, places, err := from.Next(keptPage)
		if err == nil {
			err = k.move(records)
		}
		if err == nil {
			err = from.Taken(places)
		}
		if err != nil {
			return err
		}
	}
	if !leaving {
		return nil
	}
	file := filepath.Join(path, placename.File)
	left, err := os.ReadFile(file) //nolint:gosec // of the program's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err == nil && len(left) > 0 {
		k.left = append(k.left, string(left))
	}
	return err
}

// move appends callbacks of another program.
func (k *Kept) move(records [][]byte) error {
	for page := range slices.Chunk(records, keptPage) {
		k.ever.Add(int64(len(page))) // before they can be taken
		if err := k.file.Append(page...); err != nil {
			return err
		}
		for _, sealed := range page {
			k.room.adopt(keptIDOf(sealed))
		}
	}
	return nil
}

// leave tells that the places of programs that are gone are empty. It comes when everything that was taken over from
// them is in the inbox, so that cuts wait for those programs until then. One that cannot be told is told later.
func (k *Kept) leave(ctx context.Context) {
	for len(k.left) > 0 {
		limited, cancel := context.WithTimeout(ctx, storePatience)
		err := k.cfg.Leave(limited, k.left[0])
		cancel()
		if err != nil {
			k.logger.WarnContext(ctx, "cuts may wait for a program that is gone", "program", k.left[0], "error", err)
			return
		}
		k.left = k.left[1:]
	}
}
