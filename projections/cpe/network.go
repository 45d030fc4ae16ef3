package cpeviews

// Network is one Wi-Fi network of a CPE on one radio, as the CPE server knows it.
type Network struct {
	Path    string
	Name    string
	Kind    string // one of NetworkKinds
	Enabled bool
	Clients int // -1 = it is not known
}

// NetworkKinds are the values of Network.Kind.
func NetworkKinds() []string { return []string{"main", "guest", "backhaul", "other"} }
