enum "kind" {
  values = ["web"]
}
