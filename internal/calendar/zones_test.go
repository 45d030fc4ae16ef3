package calendar_test

import (
	"archive/zip"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
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
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	database, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
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

// TestZones_CanAllBeLoaded: a newer release of Go may have more of them, which `go test ./internal/calendar -run Zones
// -update` takes over.
func TestZones_CanAllBeLoaded(t *testing.T) {
	t.Parallel()
	if *update {
		list := strings.Join(distributed(t), "\n") + "\n"
		if err := os.WriteFile("zones.txt", []byte(list), 0o644); err != nil { //nolint:gosec // part of the source
			t.Fatal(err)
		}
		return
	}
	list, err := os.ReadFile("zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	if len(names) < 500 {
		t.Errorf("zones.txt has %d names", len(names))
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

func TestZone_IsReadOnceAndUnknownOnesAreTold(t *testing.T) {
	t.Parallel()
	first, err := calendar.Zone("Africa/Kampala")
	if err != nil || first.String() != "Africa/Kampala" {
		t.Fatal(first, err)
	}
	if again, err := calendar.Zone("Africa/Kampala"); err != nil || again != first {
		t.Error("it was read again", err)
	}
	if _, err := calendar.Zone("Africa/Atlantis"); err == nil {
		t.Error("a zone that does not exist")
	}
	if got := calendar.ZoneOrUTC("Africa/Atlantis"); got != time.UTC {
		t.Error(got)
	}
}
