package paymentsjobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/journal"
)

// placeName is the file in a journal's directory that has the name of the place. Whoever has the journal may use it.
const placeName = "place"

// placeOf gives the name of a journal's place, and makes one when there is none. It tells people the machine and the
// path, but stays the same when these change, as they do in a container; two machines of one name have two places.
func placeOf(dir string) (string, error) {
	file := filepath.Join(dir, placeName)
	name, err := os.ReadFile(file) //nolint:gosec // of the program's own
	if len(name) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return string(name), err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir
	}
	fresh := fmt.Sprintf("%s:%s %s", host, path, uuid.NewString())
	return fresh, os.WriteFile(file, []byte(fresh), 0o600)
}

// Place names the journal among those of all programs of the platform. It is the same after a restart.
func (k *Kept) Place() string { return k.place }

// adopt takes over what programs that are gone have left on the disk.
func (k *Kept) adopt(ctx context.Context) {
	now, cancel := context.WithCancel(ctx)
	cancel() // what another program has is left alone at once
	for n := range keptJournals {
		err := k.moveOld(now, k.name(n)+oldKeptSuffix)
		if path := k.name(n); path != k.path && err == nil {
			err = k.moveAll(now, path)
		}
		if err != nil && !errors.Is(err, journal.ErrTaken) {
			k.logger.WarnContext(ctx, "callbacks of another program are not taken over", "error", err)
		}
	}
}

// moveAll appends all callbacks of another journal, if there is one, to that of this program. The next program with
// that journal has a new place.
func (k *Kept) moveAll(ctx context.Context, path string) error {
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
	file := filepath.Join(path, placeName)
	place, err := os.ReadFile(file) //nolint:gosec // of the program's own
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err == nil && len(place) > 0 {
		k.left = append(k.left, string(place))
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
