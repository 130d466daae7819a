// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded machines, read by the parser that reads the running one.
//!
//! Each file under `machines/` says in its `source` field where it comes from.

use huepage::{
    topology::{
        AddressMode, Cache, CacheKind, ChoiceError, Indexing, Origin, RecordError, RecordedMachine,
        Topology, TopologyError, Verdict, WritePolicy,
    },
    units::Bytes,
};

fn load(name: &str) -> RecordedMachine {
    let path = format!("{}/tests/machines/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let json = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    RecordedMachine::from_json(&json).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(name: &str) -> Topology {
    Topology::read(&load(name)).unwrap()
}

/// Every accepted cache of one CPU as `(name, KiB, ways, sets, colors)`.
fn shapes(topology: &Topology, cpu: u32) -> Vec<(String, u64, u32, u32, u32)> {
    let shape = |cache: &Cache| {
        let Verdict::Accepted { geometry, colors } = &cache.verdict else { return None };
        let kib = geometry.size().0 / 1024;
        Some((cache.name(), kib, geometry.ways(), geometry.sets(), colors.get()))
    };
    topology.caches.iter().filter(|cache| cache.cpus.contains(&cpu)).filter_map(shape).collect()
}

/// The accepted caches of one CPU are these: KiB, ways, sets and colors of L1d, L1i, L2
/// and, where there is one, L3.
#[track_caller]
fn has_caches(topology: &Topology, cpu: u32, caches: &[(u64, u32, u32, u32)]) {
    let named = ["L1d", "L1i", "L2", "L3"].into_iter().zip(caches);
    let expected = named.map(|(name, &(kib, ways, sets, c))| (name.to_owned(), kib, ways, sets, c));
    assert_eq!(shapes(topology, cpu), expected.collect::<Vec<_>>());
}

fn count(topology: &Topology, level: u8, kind: CacheKind) -> usize {
    topology.caches.iter().filter(|c| (c.level, c.kind) == (level, kind)).count()
}

#[test]
fn hybrid_cores_have_unlike_caches_and_only_some_have_an_l2_of_their_own() {
    let topology = read("alder-lake-i9-12900k");
    has_caches(
        &topology,
        15,
        &[(48, 12, 64, 1), (32, 8, 64, 1), (1280, 10, 2048, 32), (30720, 12, 40960, 640)],
    );
    has_caches(
        &topology,
        20,
        &[(32, 8, 64, 1), (64, 8, 128, 2), (2048, 16, 2048, 32), (30720, 12, 40960, 640)],
    );
    // 8 of the P-cores, 2 of the E-core clusters; two threads are one core.
    assert_eq!(count(&topology, 2, CacheKind::Unified), 10);
    let geometry = topology.cache_to_color(15).unwrap();
    assert_eq!((geometry.size(), geometry.ways()), (Bytes::kib(1280), 10));
    assert_eq!(
        topology.cache_to_color(20).unwrap_err().to_string(),
        "the L2 of CPU 20 is shared by 4 cores (CPUs 20-23), which disturb each other; to color \
         it all the same, give its geometry by hand"
    );
    assert!(!topology.virtualization.detected);
}

#[test]
fn a_machine_without_l3_and_without_numa_is_described() {
    let topology = read("raspberry-pi-4");
    has_caches(&topology, 3, &[(32, 2, 256, 4), (48, 3, 256, 4), (1024, 16, 1024, 16)]);
    assert_eq!((topology.nodes.len(), topology.model.as_deref()), (0, None));
    assert!(matches!(topology.cache_to_color(0), Err(ChoiceError::Shared { cores: 4, .. })));
    assert_eq!(topology.problems, [] as [&str; 0]);
}

#[test]
fn four_nodes_with_a_hole_keep_their_numbers() {
    let topology = read("power9-ac922");
    let ids: Vec<u32> = topology.nodes.iter().map(|node| node.id).collect();
    assert_eq!(ids, [0, 8, 254, 255]);
    // The third entry of a row is node 254, not node 2.
    let row: Vec<(u32, u32)> =
        topology.nodes[1].distances.iter().map(|d| (d.node, d.distance)).collect();
    assert_eq!(row, [(0, 40), (8, 10), (254, 80), (255, 80)]);
    assert_eq!(topology.nodes[1].cpus, (64..128).step_by(4).collect::<Vec<u32>>());
    assert_eq!(
        (topology.nodes[3].cpus.len(), topology.nodes[3].memory),
        (0, Some(Bytes(16_508_780_544)))
    );
    assert_eq!(topology.model.as_deref(), Some("POWER9, altivec supported"));
}

#[test]
fn large_pages_leave_fewer_colors() {
    let topology = read("power9-ac922");
    assert_eq!(topology.page_size, Bytes::kib(64));
    has_caches(
        &topology,
        124,
        &[(32, 8, 32, 1), (32, 8, 32, 1), (512, 8, 512, 1), (10240, 20, 4096, 8)],
    );
}

#[test]
fn a_cache_of_one_color_is_not_worth_coloring() {
    let mut machine = load("threadripper-3960x-nps4");
    machine.page_size = Bytes::kib(64);
    assert_eq!(
        Topology::read(&machine).unwrap().cache_to_color(0).unwrap_err().to_string(),
        "the L2 of CPU 0 has one color with pages of 64 KiB: all placements are alike"
    );
}

#[test]
fn nodes_without_memory_and_cpus_in_two_ranges_are_read() {
    let topology = read("threadripper-3960x-nps4");
    let memory: Vec<u64> = topology.nodes.iter().map(|node| node.memory.unwrap().0 >> 20).collect();
    assert_eq!(memory, [0, 64307, 64472, 0]);
    assert_eq!(topology.nodes[3].cpus, (18..24).chain(42..48).collect::<Vec<u32>>());
    has_caches(
        &topology,
        47,
        &[(32, 8, 64, 1), (32, 8, 64, 1), (512, 8, 1024, 16), (16384, 16, 16384, 256)],
    );
    let l3 = topology.caches.iter().find(|c| c.level == 3 && c.cpus.contains(&47)).unwrap();
    assert_eq!((l3.cpus.as_slice(), l3.cores), (&[21, 22, 23, 45, 46, 47][..], 3));
    // Two hardware threads share it, but they are one core.
    assert_eq!(topology.cache_to_color(47).unwrap().size(), Bytes::kib(512));
}

#[test]
fn a_direct_mapped_memory_side_cache_has_a_color_per_page() {
    let topology = read("xeon-max-9462-hbm-cache");
    let [cache] = topology.nodes[0].memory_side_caches[..] else { panic!("one is expected") };
    assert_eq!((cache.level, cache.size, cache.line), (1, Some(Bytes(64 << 30)), Some(64)));
    assert_eq!(cache.indexing, Indexing::DirectMapped);
    assert_eq!(cache.write_policy, WritePolicy::WriteBack);
    assert_eq!(cache.address_mode, None);
    assert_eq!(cache.colors, Some((64 << 30) / 4096));
    // 15 ways and 40 slices: colors that are no power of two.
    let l3 = shapes(&topology, 0).pop().unwrap();
    assert_eq!(l3, ("L3".to_owned(), 76800, 15, 81920, 1280));
}

#[test]
fn a_memory_side_cache_of_unknown_indexing_has_no_colors() {
    let mut machine = load("xeon-max-9462-hbm-cache");
    let at = "/sys/devices/system/node/node0/memory_side_cache/index1";
    machine.files.insert(format!("{at}/indexing"), "1\n".into());
    machine.files.remove(&format!("{at}/write_policy"));
    let topology = Topology::read(&machine).unwrap();
    let cache = topology.nodes[0].memory_side_caches[0];
    assert_eq!((cache.indexing, cache.colors), (Indexing::Indexed, None));
    assert_eq!(cache.write_policy, WritePolicy::Other);
}

/// Half of the node is the cache of the other half: two pages of each color.
#[test]
fn an_extended_linear_cache_is_part_of_its_node() {
    let topology = read("extended-linear-memory-side-cache");
    let node = &topology.nodes[0];
    let [cache] = node.memory_side_caches[..] else { panic!("one is expected") };
    assert_eq!(cache.address_mode, Some(AddressMode::ExtendedLinear));
    assert_eq!(cache.indexing, Indexing::DirectMapped);
    let pages = node.memory.unwrap().0 / 4096;
    assert_eq!(cache.colors, Some(pages / 2));
}

#[test]
fn an_address_mode_is_read_as_linux_writes_it() {
    let mut machine = load("extended-linear-memory-side-cache");
    let file = "/sys/devices/system/node/node0/memory_side_cache/index1/address_mode";
    for (text, mode) in [
        ("0x0\n", Some(AddressMode::Reserved)),
        ("0\n", Some(AddressMode::Reserved)),
        ("0x1\n", Some(AddressMode::ExtendedLinear)),
        ("0x10\n", Some(AddressMode::Other)),
        ("linear\n", None),
    ] {
        machine.files.insert(file.into(), text.into());
        let topology = Topology::read(&machine).unwrap();
        assert_eq!(topology.nodes[0].memory_side_caches[0].address_mode, mode, "{text}");
    }
}

#[test]
fn an_arm64_guest_that_declares_its_caches_is_described() {
    let topology = read("graviton2-m6g-large");
    has_caches(
        &topology,
        1,
        &[(64, 4, 256, 4), (64, 4, 256, 4), (1024, 8, 2048, 32), (32768, 16, 32768, 512)],
    );
    assert_eq!(topology.cache_to_color(1).unwrap().sets(), 2048);
    assert_eq!(topology.virtualization.hypervisor.as_deref(), Some("Amazon EC2"));
    assert_eq!(topology.cpuid, None);
}

#[test]
fn a_bare_metal_instance_of_a_cloud_is_no_virtual_machine() {
    let mut machine = load("graviton2-m6g-large");
    machine.files.insert("/sys/class/dmi/id/product_name".into(), "c6g.metal\n".into());
    assert!(!Topology::read(&machine).unwrap().virtualization.detected);
}

#[test]
fn an_arm64_guest_without_cache_files_is_not_guessed_at() {
    let topology = read("qemu-virt-arm64-no-geometry");
    assert_eq!(shapes(&topology, 0), []);
    for cache in &topology.caches {
        let missing = vec!["size", "ways", "line", "sets"];
        assert_eq!(cache.verdict, Verdict::NotDeclared { missing });
    }
    assert_eq!(topology.cpus_without_caches, [2, 3]);
    assert_eq!(
        topology.cache_to_color(1),
        Err(ChoiceError::NotDeclared { cpu: 1, missing: "size, ways, line, sets".into() })
    );
    assert_eq!(topology.cache_to_color(2), Err(ChoiceError::NotListed(2)));
    assert_eq!(topology.virtualization.hypervisor.as_deref(), Some("KVM"));
}

#[test]
fn faked_geometry_is_rejected_by_name_and_cpuid_contradicts_it() {
    let topology = read("hyper-v-guest-faked-geometry");
    assert_eq!(shapes(&topology, 0), []);
    let reasons: Vec<(String, &str)> = topology
        .caches
        .iter()
        .filter(|cache| cache.cpus.contains(&0))
        .map(|cache| match &cache.verdict {
            Verdict::Rejected { reason } => (cache.name(), reason.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    let placeholder = "1 set of 1 way(s) is a placeholder, not a cache";
    assert_eq!(
        reasons,
        [
            ("L1d".to_owned(), placeholder),
            ("L1i".to_owned(), placeholder),
            ("L2".to_owned(), "ways is zero"),
            ("L3".to_owned(), "1024 sets × 16 ways × 64 B is not 32 MiB"),
        ]
    );
    let check = topology.cpuid.as_ref().unwrap();
    assert_eq!((check.leaf.as_str(), check.agrees()), ("0x4", false));
    let l2 = &check.caches[2].differences;
    assert_eq!(l2.len(), 1);
    assert_eq!((l2[0].field, l2[0].sysfs, l2[0].cpuid), ("ways", Some(0), Some(16)));
    assert_eq!(topology.virtualization.hypervisor.as_deref(), Some("Hyper-V"));
    assert_eq!(topology.virtualization.evidence.len(), 3);
    assert_eq!(
        topology.cache_to_color(1).unwrap_err().to_string(),
        "the declared L2 of CPU 1 cannot be true (ways is zero): give it by hand"
    );
    assert_eq!(topology.problems, ["node 0 has 2 distances for 1 online node(s)"]);
}

#[test]
fn a_geometry_given_by_hand_comes_before_all() {
    let topology = read("hyper-v-guest-faked-geometry");
    let given = "size=2560k,ways=16".parse().unwrap();
    let choice = topology.choose(0, Some(given)).unwrap();
    assert_eq!((choice.origin, choice.reason), (Origin::Given, None));
    assert_eq!(choice.colors.map(|colors| colors.get()), Some(40));
    assert_eq!(topology.choose(0, None).unwrap().origin, Origin::None);
    assert_eq!(
        topology.choose(2, Some(given)).unwrap_err().to_string(),
        "CPU 2 is not online: choose one of 0-1"
    );
}

#[test]
fn a_real_guest_agrees_with_its_cpuid_and_with_timing() {
    let machine = load("epyc-family-26-guest");
    let topology = Topology::read(&machine).unwrap();
    has_caches(
        &topology,
        0,
        &[(48, 12, 64, 1), (32, 8, 64, 1), (1024, 16, 1024, 16), (32768, 16, 32768, 512)],
    );
    let check = topology.cpuid.unwrap();
    assert_eq!((check.leaf.as_str(), check.caches.len()), ("0x8000001d", 4));
    assert!(check.agrees());
    assert_eq!(topology.virtualization.hypervisor.as_deref(), Some("KVM"));
    let measured = huepage::topology::Measured::from(machine.curve.unwrap());
    assert!(measured.l1.unwrap().fits(Bytes::kib(48)));
    let l2 = measured.l2.unwrap();
    assert!(l2.fits(Bytes::mib(1)) && !l2.fits(Bytes::kib(512)) && !l2.fits(Bytes::mib(2)));
}

#[test]
fn node_zero_may_be_absent() {
    let topology = read("numa-36-nodes");
    assert_eq!(topology.nodes.len(), 36);
    assert_eq!((topology.nodes[0].id, topology.nodes[35].id), (1, 36));
    assert_eq!(topology.nodes[35].distances[0].distance, 40);
    assert_eq!(topology.cpus_without_caches.len(), 36);
}

#[test]
fn a_record_of_a_record_is_the_same_machine() {
    for name in ["epyc-family-26-guest", "power9-ac922", "xeon-max-9462-hbm-cache"] {
        let machine = load(name);
        let again =
            RecordedMachine::record(&machine, machine.source.clone(), machine.curve.clone())
                .unwrap();
        assert_eq!(again, machine, "{name}: the parser reads every file of a record");
        assert_eq!(RecordedMachine::from_json(&again.to_json()).unwrap(), machine);
    }
}

#[test]
fn every_record_says_where_it_comes_from() {
    let directory = format!("{}/tests/machines", env!("CARGO_MANIFEST_DIR"));
    let mut real = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let machine = RecordedMachine::from_json(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let by_hand = machine.source.starts_with("written by hand, not recorded");
        let recorded = machine.source.starts_with("recorded by huepage");
        assert!(by_hand != recorded, "{}: {}", path.display(), machine.source);
        real += usize::from(recorded);
    }
    assert_eq!(real, 3);
}

#[test]
fn broken_files_make_a_cache_undeclared_not_a_crash() {
    let l2 = "/sys/devices/system/cpu/cpu0/cache/index2";
    for (file, text, missing) in [
        ("size", "many\n", "size"),
        ("ways_of_associativity", "-1\n", "ways"),
        ("coherency_line_size", "", "line"),
        ("number_of_sets", "99999999999999999999\n", "sets"),
        ("shared_cpu_list", "0-99999999\n", "sharing"),
        ("shared_cpu_list", "1\n", "sharing"),
    ] {
        let mut machine = load("graviton2-m6g-large");
        machine.files.insert(format!("{l2}/{file}"), text.into());
        let topology = Topology::read(&machine).unwrap();
        assert_eq!(
            topology.cache_to_color(0),
            Err(ChoiceError::NotDeclared { cpu: 0, missing: missing.into() }),
            "{file} {text:?}"
        );
    }
}

#[test]
fn broken_distances_are_told_and_the_rest_is_kept() {
    let mut machine = load("power9-ac922");
    machine.files.insert("/sys/devices/system/node/node8/distance".into(), "40 x 80 80\n".into());
    machine.files.remove("/sys/devices/system/node/node255/distance");
    let topology = Topology::read(&machine).unwrap();
    assert_eq!(topology.problems, ["node 8: 'x' is no distance", "node 255 has no distances"]);
    assert_eq!(topology.nodes[1].distances, []);
    assert_eq!(topology.nodes[0].distances.len(), 4);
}

#[test]
fn a_tree_without_cpus_is_refused() {
    let mut machine = load("raspberry-pi-4");
    machine.files.clear();
    assert_eq!(Topology::read(&machine), Err(TopologyError::NoCpus));
}

#[test]
fn what_is_no_record_is_refused_with_the_reason() {
    let good = load("raspberry-pi-4").to_json();
    let error = |json: &str| {
        let error = RecordedMachine::from_json(json).unwrap_err();
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        error.to_string() + &cause.unwrap_or_default()
    };
    assert!(matches!(RecordedMachine::from_json("{"), Err(RecordError::Json(_))));
    assert!(error("{}").starts_with("not a recorded machine: missing field `schema`"));
    assert_eq!(
        error(&good.replace("recorded-machine/1", "recorded-machine/2")),
        "the schema is 'huepage.recorded-machine/2', this program reads \
         'huepage.recorded-machine/1': record the machine again"
    );
    assert!(error(&good.replace("\"files\"", "\"flies\"")).contains("unknown field `flies`"));
    assert_eq!(
        error(&good.replace("4096", "4095")),
        "not a recorded machine: a page of 4095 bytes"
    );
    let real = load("epyc-family-26-guest");
    let with_point = |bytes, nanoseconds| {
        let mut machine = real.clone();
        let points = &mut machine.curve.as_mut().unwrap().points;
        points[3] = huepage::topology::Point::new(Bytes(bytes), nanoseconds);
        error(&machine.to_json())
    };
    assert_eq!(with_point(1, 1.0), "not a recorded machine: the sizes of the curve do not ascend");
    assert_eq!(with_point(7168, -1.0), "not a recorded machine: an access of -1 ns in the curve");
}

#[test]
fn the_running_machine_and_its_record_are_described_alike() {
    let cpu = huepage::topology::allowed_cpus().unwrap()[0];
    let live = huepage::topology::LiveMachine::open(cpu).unwrap();
    let record = match RecordedMachine::record(&live, "test".into(), None) {
        Ok(record) => record,
        Err(error) => return eprintln!("skipped, this machine cannot be read: {error}"),
    };
    let (mut here, mut there) = (Topology::read(&live).unwrap(), Topology::read(&record).unwrap());
    // Memory comes and goes with a balloon between the two readings.
    for node in here.nodes.iter_mut().chain(&mut there.nodes) {
        node.memory = None;
    }
    assert_eq!(here, there);
}
