package eventstore

import (
	"strconv"
	"strings"
	"testing"
)

// FuzzActualIn checks that the revision is NoStream or one that a stream can have, whatever a client's message says,
// and that a number in its place is read as it is.
func FuzzActualIn(f *testing.F) {
	f.Add("wrong expected version: expecting '3' but got '5'", uint64(5))
	f.Add("wrong expected version: expecting '3' but got 'no_stream'", uint64(0))
	f.Add("but got '-2'", uint64(1<<63-1))
	f.Add("but got '18446744073709551615'", uint64(1<<63))
	f.Fuzz(func(t *testing.T, message string, revision uint64) {
		if got := actualIn(message); got < NoStream {
			t.Errorf("%q gives %d", message, got)
		}
		if strings.Contains(message, "but got '") {
			return
		}
		want := NoStream
		if revision < 1<<63 {
			want = At(revision)
		}
		if got := actualIn(message + "but got '" + strconv.FormatUint(revision, 10) + "'"); got != want {
			t.Errorf("%d after %q is read as %d", revision, message, got)
		}
	})
}
