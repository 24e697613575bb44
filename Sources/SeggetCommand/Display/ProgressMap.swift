/// Draws which parts of a file are done.
enum ProgressMap {
    private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let letters: [Character] = [" ", ".", ".", ":", ":", "+", "+", "*", "#"]

    /// The cells, each filled from 0 to 8, drawn on exactly `columns` columns.
    ///
    /// A column is blank only when nothing of its part is done, and full only when all of it is.
    static func draw(_ cells: [UInt8], columns: Int, unicode: Bool) -> String {
        let glyphs = unicode ? blocks : letters
        return String(resample(cells, columns: columns).map { glyphs[$0] })
    }

    /// The cells' fillings averaged over `columns` equal parts of the whole, each from 0 to 8.
    static func resample(_ cells: [UInt8], columns: Int) -> [Int] {
        guard !cells.isEmpty, columns > 0 else { return [] }
        return (0..<columns).map { column in
            // In units of 1/columns of a cell this column covers exactly cells.count of them.
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
