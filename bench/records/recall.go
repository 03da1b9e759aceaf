package records

// Recall returns which part of the relevant keys was found, from 0 to 1: recall
// at k, if found are the best k. Keys that are there several times count once. It
// is 0 if nothing is relevant.
func Recall(found, relevant []string) float64 {
	missing := make(map[string]bool, len(relevant))
	for _, key := range relevant {
		missing[key] = true
	}
	if len(missing) == 0 {
		return 0
	}
	all := len(missing)
	for _, key := range found {
		delete(missing, key)
	}
	return float64(all-len(missing)) / float64(all)
}
