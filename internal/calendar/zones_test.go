package calendar_test

import (
	"archive/zip"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// update has the list written from the database of this Go release.
var update = flag.Bool("update", false, "write zones.txt")

// distributed lists the zones of the database that comes with Go, which time/tzdata has too. Factory is none: it says
// that nobody has set a zone.
func distributed(t *testing.T) (names []string) {
	t.Helper()
	//nolint:staticcheck // the database of the Go release that runs the test
	database, err := zip.OpenReader(filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	for _, file := range database.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			names = append(names, file.Name)
		}
	}
	slices.Sort(names)
	return names
}

// TestZones_AreThoseOfTheGoRelease: after a newer release, `go test ./internal/calendar -run Zones -update`.
func TestZones_AreThoseOfTheGoRelease(t *testing.T) {
	t.Parallel()
	names := distributed(t)
	want := strings.Join(names, "\n") + "\n"
	if *update {
		if err := os.WriteFile("zones.txt", []byte(want), 0o644); err != nil { //nolint:gosec // part of the source
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("zones.txt is of another release: write it with -update")
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err != nil || !calendar.KnownZone(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKnownZone_IsSpelledAsByIANA(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Africa/Nairobi", "Asia/Calcutta", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+3",
		"EST5EDT", "Zulu",
	} {
		if !calendar.KnownZone(name) {
			t.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "Factory", "right/Africa/Nairobi", "posix/Africa/Nairobi",
		"Africa/./Nairobi", "Africa//Nairobi", "./Africa/Nairobi", "africa/nairobi", "Africa", "Africa/", "Nairobi",
		"Africa/Nairobi ", "Africa/Nairobi\n", "Africa/Nairobi\nAfrica/Ndjamena", "\n", "Mars/Base", "zone.tab",
		"+03:00", "EAT",
	} {
		if calendar.KnownZone(name) {
			t.Errorf("%q is known", name)
		}
	}
}
