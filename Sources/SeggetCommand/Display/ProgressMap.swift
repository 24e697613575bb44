/// Draws which parts of a file are complete.
enum ProgressMap {
    private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let letters: [Character] = [" ", ".", ".", ":", ":", "+", "+", "*", "#"]

    /// Returns the cells, which are filled from 0 to 8, drawn in exactly `columns` columns.
    ///
    /// A column is blank only if nothing of its part is complete, and full only if all of it is.
    static func draw(_ cells: [UInt8], columns: Int, unicode: Bool) -> String {
        let glyphs = unicode ? blocks : letters
        return String(resample(cells, columns: columns).map { glyphs[$0] })
    }

    /// Returns the average filling, 0 to 8, of the cells in each of `columns` equal parts.
    static func resample(_ cells: [UInt8], columns: Int) -> [Int] {
        guard !cells.isEmpty, columns > 0 else { return [] }
        return (0..<columns).map { column in
            // In units of 1/columns of a cell, this column covers exactly cells.count units.
            let start = column * cells.count
            let end = start + cells.count
            var filled = 0
            for cell in start / columns...(end - 1) / columns {
                let overlap = min(end, (cell + 1) * columns) - max(start, cell * columns)
                filled += overlap * Int(min(8, cells[cell]))
            }
            switch filled {
            case 0: return 0
            case 8 * cells.count: return 8
            default: return max(1, min(7, filled / cells.count))
            }
        }
    }
}
